//! Vector, scalar and matrix instructions against numbers: what an emulator that we did not write makes of edge values
//! (`vectors/README.md`), at every level of the host and under a full and a partial EXEC.

#![allow(clippy::cast_possible_truncation, reason = "dwords of test data")]

mod exec_support;
mod vectors;

use std::collections::BTreeSet;

use exec_support::{Arg, Launch, Memory, Program};
use hansa_sim::exec::Level;
use vectors::program::{self, Place};
use vectors::{alike, modes, Inputs, Outcome, Vector};

const VECTORS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors/vectors.txt");

/// Lanes of the second run: some of each row, none of one.
const PARTIAL: u64 = 0x8000_ff0f_1234_5671;

/// What a run leaves in each place, lane by lane.
fn run(vector: &Vector<'_>, set: &str, inputs: &Inputs<'_>, level: Level, exec: u64) -> Vec<Vec<u32>> {
    let sources = vector.sources(set, inputs);
    let places = vector.places();
    let words = program::make(vector, &sources, &places, exec);
    let program = Program::raw(&words, vector.target, level);
    let rows: Vec<u32> = sources.iter().flat_map(|(_, row)| row.iter().copied()).collect();
    let (input, output) = (Memory::of(&rows), Memory::new(256 * places.len()));
    Launch::new(&program, "raw", 64, 64)
        .buffer(&input)
        .buffer(&output)
        .arg(Arg::U64(exec))
        .run()
        .expect("no fault");
    let all = output.values::<u32>(64 * places.len());
    all.chunks_exact(64).map(<[u32]>::to_vec).collect()
}

/// The lanes in which an outcome comes out otherwise.
fn differences(
    vector: &Vector<'_>,
    outcome: &Outcome<'_>,
    inputs: &Inputs<'_>,
    level: Level,
    exec: u64,
) -> Vec<String> {
    let got = run(vector, outcome.set, inputs, level, exec);
    let sources = vector.sources(outcome.set, inputs);
    let places = vector.places();
    let expected: Vec<_> = places
        .iter()
        .map(|place| outcome.expected(*place, vector, &sources, exec))
        .collect();
    // Of a wide result, both registers.
    let wide = |row: &dyn Fn(usize) -> u32| u64::from(row(0)) | u64::from(row(1)) << 32;
    let mut found = Vec::new();
    for (n, place) in places.iter().enumerate() {
        let Some(row) = expected[n] else { continue };
        for (lane, theirs) in row.into_iter().enumerate() {
            let ours = got[n][lane];
            let pairs = || {
                [
                    wide(&|n| got[n][lane]),
                    wide(&|n| expected[n].map_or(0, |row| row[lane])),
                ]
            };
            if !alike(vector, *place, [ours, theirs], &pairs) {
                let inputs: Vec<String> = sources
                    .iter()
                    .map(|(place, row)| format!("{place}={:x}", row[lane]))
                    .collect();
                found.push(format!(
                    "{} {level:?} exec {exec:x} lane {lane} {place}: {} -> {ours:x}, not {theirs:x} ({})",
                    vector.text,
                    inputs.join(" "),
                    vector.by,
                ));
            }
        }
    }
    found
}

fn judge(vectors: &[&Vector<'_>], inputs: &Inputs<'_>, level: Level) {
    let mut found = Vec::new();
    for vector in vectors {
        for outcome in &vector.outcomes {
            for exec in [!0, PARTIAL]
                .into_iter()
                .take(if vector.lanes_are_independent() { 2 } else { 1 })
            {
                found.extend(
                    differences(vector, outcome, inputs, level, exec)
                        .into_iter()
                        .take(3),
                );
            }
        }
    }
    assert!(
        found.is_empty(),
        "{} differences:\n{}",
        found.len(),
        found.join("\n")
    );
}

fn at_level(level: Level) {
    if !Level::available().any(|known| known == level) {
        return;
    }
    let text = std::fs::read_to_string(VECTORS).expect("the vectors are there");
    let (inputs, vectors) = vectors::parse(&text);
    judge(&vectors.iter().collect::<Vec<_>>(), &inputs, level);
}

#[test]
fn the_portable_level_agrees() {
    at_level(Level::Portable);
}

#[test]
fn avx2_agrees() {
    at_level(Level::Avx2);
}

#[test]
fn avx512_agrees() {
    at_level(Level::Avx512);
}

/// Rounding and denormals of each precision are what MODE says, whatever the others are.
#[test]
fn modes_round_and_flush_as_the_host_does() {
    if !modes::has_answers() {
        return;
    }
    let text = modes::text();
    let (inputs, vectors) = vectors::parse(&text);
    for level in Level::available() {
        judge(&vectors.iter().collect::<Vec<_>>(), &inputs, level);
    }
}

/// A file that was cut, or read wrongly, would make the other tests easy.
#[test]
fn the_vectors_are_all_there() {
    let text = std::fs::read_to_string(VECTORS).expect("the vectors are there");
    let (_, vectors) = vectors::parse(&text);
    let mnemonics: BTreeSet<&str> = vectors.iter().map(Vector::mnemonic).collect();
    let with = |what: &str| vectors.iter().filter(|vector| vector.text.contains(what)).count();
    assert!(vectors.len() > 3900, "{} forms", vectors.len());
    assert!(mnemonics.len() > 590, "{} mnemonics", mnemonics.len());
    for (what, least) in [
        ("_sdwa", 600),
        ("_dpp", 200),
        ("clamp", 200),
        ("op_sel", 50),
        ("|", 200),
        ("mfma", 8),
        (" s[20:21]", 80),
    ] {
        assert!(with(what) >= least, "{} forms with {what}", with(what));
    }
    assert!(vectors
        .iter()
        .all(|vector| !vector.outcomes.is_empty() && !vector.places().is_empty()));
    assert!(vectors
        .iter()
        .any(|vector| vector.places().contains(&Place::Exec)));
}
