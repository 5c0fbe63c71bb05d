//! What more agents cost: the same calls with 2 and with 64 software GPUs, in turns, each run a process of its own
//! ([`crate::pace`]). Nothing here may take longer because there are more agents, so the ratios are about 1.

use crate::client::Result;
use crate::pace::{time, Times};
use crate::report::Row;
use std::path::Path;
use std::process::Command;

const ROUNDS: usize = 3;
/// The most that 32 times as many agents may make of a time; what it is above 1 is for the machine's own ups and downs.
const MOST: f64 = 1.4;
const GOAL: &str = "at most 1.4";

/// What [`crate::pace`] calls it and what the table does, the unit, and how many of it a microsecond has.
const ROWS: [(&str, &str, &str, f64); 10] = [
    ("pool_host_4k", "4 KiB of a host pool, 64 GPUs", "ns", 1e3),
    ("pool_host", "64 KiB of a host pool, 64 GPUs", "ns", 1e3),
    ("pool_device_4k", "4 KiB of a device pool, 64 GPUs", "ns", 1e3),
    ("pool_device", "64 KiB of a device pool, 64 GPUs", "ns", 1e3),
    ("pointer_info", "pointer info, 64 GPUs", "ns", 1e3),
    ("signal_create", "signal create and destroy, 64 GPUs", "ns", 1e3),
    ("wake", "wake of a blocked waiter, 64 GPUs", "us", 1.0),
    ("agent_get_info", "hsa_agent_get_info, 64 GPUs", "ns", 1e3),
    ("handler", "async handler, 64 GPUs", "us", 1.0),
    ("code_load", "code object loaded, 64 GPUs", "us", 1.0),
];

/// The rows for the runtime in a library; `this` is the program whose `bench --pace` times it.
pub(crate) fn rows(library: &Path, this: &Path) -> Result<Vec<Row>> {
    let (mut few, mut many) = (Times::new(), Times::new());
    for _ in 0..ROUNDS {
        for (devices, times) in [(2, &mut few), (64, &mut many)] {
            let change = |command: &mut Command| {
                command
                    .env("HANSA_BACKENDS", "sim")
                    .env("HANSA_SET", format!("backend.sim.devices = {devices}"));
            };
            time(this, library, &change, times)?;
        }
    }
    let row = |&(key, name, unit, scale): &(_, _, _, f64)| {
        let (many, few) = (least(many.get(key))?, least(few.get(key))?);
        let theirs = ("with 2 GPUs", few * scale);
        Some(Row::against(name, many * scale, unit, theirs, MOST, GOAL))
    };
    Ok(ROWS.iter().filter_map(row).collect())
}

/// The least of some times: sleepers wake late now and then, and that has nothing to do with agents.
fn least(times: Option<&Vec<f64>>) -> Option<f64> {
    times?.iter().copied().min_by(f64::total_cmp)
}
