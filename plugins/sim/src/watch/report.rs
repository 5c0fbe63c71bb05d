//! Counters of kernels as JSON.

use super::record::Record;
use super::traffic::{self, Memory};
use crate::isa::{decode, Family, Inst};
use crate::shared::signed;
use crate::stats::{Hot, Kernel, Moved, Report};
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::sync::Arc;

/// Instructions that are listed of each kernel: those that ran most.
const HOTTEST: usize = 16;

/// The report of some kernels, those with most instructions first.
pub(super) fn of(records: &[Arc<Record>]) -> String {
    let mut kernels: Vec<Kernel> = records.iter().map(|record| kernel(record)).collect();
    kernels.sort_by_key(|kernel| std::cmp::Reverse(kernel.instructions));
    let report = Report { kernels };
    // Plain numbers and text: nothing that JSON cannot say.
    serde_json::to_string_pretty(&report).unwrap_or_default()
}

fn kernel(record: &Record) -> Kernel {
    let load = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed);
    let mut kernel = Kernel {
        name: record.name.clone(),
        isa: record.target.to_string(),
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
        let Some(Ok(inst)) = record.bytes_at(pc).map(|bytes| decode(record.target, bytes)) else {
            continue;
        };
        *kernel
            .families
            .entry(inst.row.family.name().to_owned())
            .or_default() += count;
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
