//! How much of each target's instruction set the engine executes. `cargo test -p hansa-sim --test
//! exec_coverage -- --nocapture` prints what is missing.

use std::collections::BTreeSet;

use hansa_sim::exec::is_implemented;
use hansa_sim::isa::{rows_of, Family, Target};

/// Encodings and mnemonics that only graphics, or privileged code, uses.
fn is_for_compute(family: Family, name: &str) -> bool {
    !matches!(family, Family::Vintrp | Family::Exp)
        && !name.starts_with("v_interp_")
        && !name.starts_with("s_rfe")
        && !["ds_ordered_count", "v_screen_partition_4se_b32"].contains(&name)
}

fn missing(target: Target) -> (usize, BTreeSet<(&'static str, &'static str)>) {
    let rows: Vec<_> = rows_of(target)
        .filter(|row| is_for_compute(row.family, row.name))
        .collect();
    let missing = rows
        .iter()
        .filter(|row| !is_implemented(row))
        .map(|row| (row.family.name(), row.name))
        .collect();
    (rows.len(), missing)
}

#[test]
fn nothing_is_missing() {
    for target in Target::ALL {
        let (all, missing) = missing(target);
        println!("{target}: {} of {all} rows", all - missing.len());
        assert!(missing.is_empty(), "{target}: {missing:?}");
    }
}
