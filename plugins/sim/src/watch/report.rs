//! Counters of kernels as JSON.

use super::record::Record;
use super::traffic::{self, Memory};
use crate::isa::{decode, Family, Inst, Target};
use crate::shared::signed;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::sync::Arc;

/// Instructions that are listed of each kernel: those that ran most.
const HOTTEST: usize = 16;

#[derive(Serialize)]
struct Report {
    isa: &'static str,
    kernels: Vec<Kernel>,
}

#[derive(Serialize)]
struct Kernel {
    name: String,
    dispatches: u64,
    groups: u64,
    waves: u64,
    /// Executed by all waves, without waits and no-operations.
    instructions: u64,
    /// By encoding family.
    families: BTreeMap<&'static str, u64>,
    /// Lanes that were active, in the mean over vector instructions.
    lanes_active: f64,
    /// Bytes that went between waves and memory; what a cache would keep is not known.
    device_bytes: Moved,
    group_bytes: Moved,
    hottest: Vec<Hot>,
}

#[derive(Clone, Copy, Default, Serialize)]
struct Moved {
    read: u64,
    written: u64,
}

#[derive(Serialize)]
struct Hot {
    /// Offset from the kernel's first instruction.
    offset: i64,
    count: u64,
    lanes_active: f64,
    text: String,
}

/// The report of some kernels, those with most instructions first.
pub(super) fn of(target: Target, records: &[Arc<Record>]) -> String {
    let mut kernels: Vec<Kernel> = records.iter().map(|record| kernel(target, record)).collect();
    kernels.sort_by_key(|kernel| std::cmp::Reverse(kernel.instructions));
    let report = Report {
        isa: target.name(),
        kernels,
    };
    // Plain numbers and text: nothing that JSON cannot say.
    serde_json::to_string_pretty(&report).unwrap_or_default()
}

fn kernel(target: Target, record: &Record) -> Kernel {
    let load = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed);
    let mut kernel = Kernel {
        name: record.name.clone(),
        dispatches: load(&record.dispatches),
        groups: load(&record.groups),
        waves: load(&record.waves),
        instructions: load(&record.elsewhere),
        families: BTreeMap::new(),
        lanes_active: 0.0,
        device_bytes: Moved::default(),
        group_bytes: Moved::default(),
        hottest: Vec::new(),
    };
    let (mut vectors, mut lanes_active) = (0, 0);
    for (pc, count, lanes) in record.executed() {
        kernel.instructions += count;
        let Some(Ok(inst)) = record.bytes_at(pc).map(|bytes| decode(target, bytes)) else {
            continue;
        };
        *kernel.families.entry(inst.row.family.name()).or_default() += count;
        if is_vector(&inst) {
            vectors += count;
            lanes_active += lanes;
        }
        if let Some(moved) = traffic::of(&inst) {
            let times = if moved.per_lane { lanes } else { count };
            let sum = match moved.memory {
                Memory::Device => &mut kernel.device_bytes,
                Memory::Group => &mut kernel.group_bytes,
            };
            sum.read += times * moved.read;
            sum.written += times * moved.written;
        }
        kernel.hottest.push(Hot {
            offset: signed(pc.wrapping_sub(record.entry)),
            count,
            lanes_active: mean(lanes, count),
            text: inst.text(),
        });
    }
    kernel.lanes_active = mean(lanes_active, vectors);
    kernel
        .hottest
        .sort_by_key(|hot| (std::cmp::Reverse(hot.count), hot.offset));
    kernel.hottest.truncate(HOTTEST);
    kernel
}

fn is_vector(inst: &Inst) -> bool {
    !matches!(
        inst.row.family,
        Family::Sop1 | Family::Sop2 | Family::Sopc | Family::Sopk | Family::Sopp | Family::Smem
    )
}

/// Lanes of each execution, to a tenth.
fn mean(lanes: u64, count: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a mean for people")]
    let mean = lanes as f64 / count.max(1) as f64;
    (mean * 10.0).round() / 10.0
}
