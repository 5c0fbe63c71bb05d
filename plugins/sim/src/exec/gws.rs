//! Global wave sync: counters of the device on which waves of different work-groups meet.
//!
//! The `ds_gws` instructions of Vega's ISA document name one of 64 resources by M0 bits 21:16 plus their offset, and bring a
//! count in the first active lane of a VGPR. As a barrier, a resource has a counter and a phase: `ds_gws_init` sets the
//! counter to the number of waves that meet, less one. `ds_gws_barrier` takes one off and waits for the phase to change;
//! the wave that finds zero changes the phase, and leaves its count for the next meeting. The semaphore forms, which
//! no compiler makes, are not implemented.

use std::sync::atomic::{AtomicU64, Ordering};

use super::op::Op;
use super::slot::M0;
use super::wave::Wave;

/// The resources of a device.
#[derive(Debug)]
pub struct GlobalSync {
    /// Counter in the low half, phase in the high half.
    resources: [AtomicU64; 64],
}

impl Default for GlobalSync {
    fn default() -> Self {
        Self {
            resources: [const { AtomicU64::new(0) }; 64],
        }
    }
}

const COUNTER: u64 = 0xffff_ffff;
const PHASE: u64 = 1 << 32;

impl GlobalSync {
    /// Sets a counter.
    fn init(&self, resource: usize, count: u32) {
        let set = |state| Some(state & !COUNTER | u64::from(count));
        let _ = self.resources[resource].fetch_update(Ordering::AcqRel, Ordering::Acquire, set);
    }

    /// Comes to a meeting. Answers the phase to wait for the end of, or nothing for the last one.
    fn arrive(&self, resource: usize, next: u32) -> Option<u32> {
        let step = |state: u64| {
            Some(if state & COUNTER == 0 {
                (state & !COUNTER).wrapping_add(PHASE) | u64::from(next)
            } else {
                state - 1
            })
        };
        // The closure always answers, so both sides hold the state before.
        let (Ok(before) | Err(before)) =
            self.resources[resource].fetch_update(Ordering::AcqRel, Ordering::Acquire, step);
        (before & COUNTER != 0).then_some((before >> 32) as u32)
    }

    /// Whether a phase is over.
    fn is_over(&self, resource: usize, phase: u32) -> bool {
        (self.resources[resource].load(Ordering::Acquire) >> 32) as u32 != phase
    }
}

/// [`Op::e`] of `ds_gws_init`.
const INIT: u16 = 0;
/// [`Op::e`] of `ds_gws_barrier`: bit 0, as the top bits are flags.
const BARRIER: u16 = 1;

/// The payload of [`Op::e`] for a mnemonic.
pub(crate) fn operation(name: &str) -> Option<u16> {
    match name {
        "ds_gws_init" => Some(INIT),
        "ds_gws_barrier" => Some(BARRIER),
        _ => None,
    }
}

/// Executes an instruction. False says that the wave has to come back to it.
pub(crate) fn execute(wave: &mut Wave, op: &Op, sync: &GlobalSync) -> bool {
    let resource = (wave.s[M0] >> 16).wrapping_add(op.x as u32) as usize & 63;
    if let Some(phase) = wave.meeting {
        if !sync.is_over(resource, phase) {
            return false;
        }
        wave.meeting = None;
        return true;
    }
    // Without an active lane there is no count; lane 0 is as good as any.
    let lane = wave.exec().trailing_zeros() as usize & 63;
    let count = wave.row(op.a).0[lane];
    if op.e & BARRIER == 0 {
        sync.init(resource, count);
        return true;
    }
    wave.meeting = sync.arrive(resource, count);
    wave.meeting.is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_one_ends_the_phase_for_all() {
        let sync = GlobalSync::default();
        sync.init(3, 2);
        for _round in 0..3 {
            let first = sync.arrive(3, 2).unwrap();
            let second = sync.arrive(3, 2).unwrap();
            assert_eq!(first, second);
            assert!(!sync.is_over(3, first));
            assert_eq!(sync.arrive(3, 2), None);
            assert!(sync.is_over(3, first));
        }
        assert_eq!(sync.arrive(4, 0), None);
    }

    #[test]
    fn each_meeting_can_have_its_own_size() {
        let sync = GlobalSync::default();
        sync.init(0, 0);
        assert_eq!(sync.arrive(0, 1), None);
        assert!(sync.arrive(0, 0).is_some());
        assert_eq!(sync.arrive(0, 0), None);
        assert_eq!(sync.arrive(0, 0), None);
    }
}
