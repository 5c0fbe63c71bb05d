//! The table: what this machine measures, beside what it is compared with.

use crate::client::{Client, Result};
use crate::{calls, compute, device, growth, memory, program, rivals, waking};
use serde::Serialize;
use std::path::Path;
use std::time::{Duration, Instant};

/// One line of the table.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    name: &'static str,
    /// Nothing when it could not be measured.
    value: Option<f64>,
    unit: &'static str,
    /// Why there is no value, or nothing that it is compared with.
    missing: Option<String>,
    /// What it is compared with, in the same unit.
    peer: Option<Peer>,
    /// The goal, for people.
    goal: &'static str,
    met: bool,
}

#[derive(Debug, Serialize)]
struct Peer {
    name: &'static str,
    value: f64,
    /// Ours over theirs.
    ratio: f64,
}

impl Row {
    /// A value that must stay below a limit.
    pub(crate) fn below(
        name: &'static str,
        value: f64,
        unit: &'static str,
        limit: f64,
        goal: &'static str,
    ) -> Self {
        Self {
            name,
            value: Some(value),
            unit,
            missing: None,
            peer: None,
            goal,
            met: value <= limit,
        }
    }

    /// A value that must reach a limit.
    pub(crate) fn above(
        name: &'static str,
        value: f64,
        unit: &'static str,
        limit: f64,
        goal: &'static str,
    ) -> Self {
        Self {
            met: value >= limit,
            ..Self::below(name, value, unit, limit, goal)
        }
    }

    /// A value without the one that it would be compared with.
    pub(crate) fn alone(
        name: &'static str,
        value: f64,
        unit: &'static str,
        goal: &'static str,
        why: &str,
    ) -> Self {
        Self {
            value: Some(value),
            ..Self::missing(name, unit, goal, why)
        }
    }

    /// A time that must stay below a multiple of another.
    pub(crate) fn against(
        name: &'static str,
        value: f64,
        unit: &'static str,
        (peer, theirs): (&'static str, f64),
        most: f64,
        goal: &'static str,
    ) -> Self {
        let ratio = value / theirs;
        Self {
            name,
            value: Some(value),
            unit,
            missing: None,
            peer: Some(Peer {
                name: peer,
                value: theirs,
                ratio,
            }),
            goal,
            met: ratio <= most,
        }
    }

    /// What could not be measured here.
    pub(crate) fn missing(name: &'static str, unit: &'static str, goal: &'static str, why: &str) -> Self {
        Self {
            name,
            value: None,
            unit,
            missing: Some(why.to_owned()),
            peer: None,
            goal,
            met: false,
        }
    }
}

/// Measures the runtime in a shared library and prints the table, or JSON. `demo` is the command that computes a
/// vector sum of the length that follows it, `this` the program whose `bench --pace` times a process.
///
/// # Errors
///
/// What could not be measured, and why.
pub fn run(library: &Path, this: &Path, demo: &[&str], json: bool) -> Result<()> {
    let client = Client::load(library)?;
    let scaling = compute::scaling(&client)?;
    let mut rows = calls::life(&client)?;
    rows.extend(calls::operations(&client)?);
    rows.extend(waking::sleepers(&client)?);
    rows.extend(waking::large_object(&client)?);
    rows.extend(memory::pools(&client)?);
    rows.extend(device::latency(&client)?);
    rows.extend(device::copies(&client)?);
    rows.push(device::memory(demo)?);
    rows.extend(compute::kernels(&client)?);
    rows.extend(scaling);
    rows.extend(program::hip(&client, library)?);
    rows.extend(growth::rows(library, this)?);
    show(&rows, json)
}

/// Measures the runtime in a shared library beside AMD's on one virtual device (`plugins/kfd`, `tests/vkernel`) and prints
/// the table, or JSON. `this` is the program whose `bench --pace` times one of them.
///
/// # Errors
///
/// What could not be measured, and why.
pub fn run_beside_amd(library: &Path, this: &Path, json: bool) -> Result<()> {
    show(&rivals::rows(library, this)?, json)
}

fn show(rows: &[Row], json: bool) -> Result<()> {
    if json {
        println!(
            "{}",
            serde_json::to_string_pretty(rows).map_err(|e| e.to_string())?
        );
    } else {
        print(rows);
    }
    Ok(())
}

fn print(rows: &[Row]) {
    println!(
        "{:38} {:>12}  {:34} {:>7}  goal",
        "", "ours", "compared with", "ratio"
    );
    for row in rows {
        let (peer, ratio) = row.peer.as_ref().map_or_else(
            || (String::new(), String::new()),
            |p| {
                (
                    format!("{:.2} {} {}", p.value, row.unit, p.name),
                    format!("{:.2}", p.ratio),
                )
            },
        );
        let value = row
            .value
            .map_or_else(|| "-".to_owned(), |value| format!("{value:.2} {}", row.unit));
        let verdict = match &row.missing {
            Some(why) => why,
            None if row.met => "met",
            None => "NOT met",
        };
        println!(
            "{:38} {value:>12}  {peer:34} {ratio:>7}  {} ({verdict})",
            row.name, row.goal
        );
    }
}

/// The best of several runs of `count` calls, in nanoseconds a call.
pub(crate) fn best_ns(count: u32, mut call: impl FnMut()) -> f64 {
    (0..7)
        .map(|_| {
            let start = Instant::now();
            for _ in 0..count {
                call();
            }
            start.elapsed().as_secs_f64() * 1e9 / f64::from(count)
        })
        .fold(f64::INFINITY, f64::min)
}

/// The middle one of some times, in microseconds.
pub(crate) fn median_us(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times
        .get(times.len() / 2)
        .map_or(f64::NAN, |t| t.as_secs_f64() * 1e6)
}
