//! Global wave sync: `ds_gws_*`, with which waves of all work-groups of a dispatch meet.
//!
//! The resources belong to the device and are outside the engine ([`Host::sync`](super::Host::sync)). A resource has
//! the number M0\[21:16\] plus the instruction's offset; the count comes from the first active lane.

use super::op::{Flow, Op, Versions};
use super::slot::M0;
use super::wave::Wave;

/// What a wave does to a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyncOp {
    /// Makes it a barrier, or a semaphore, with a count.
    Init,
    /// Meets the others: as many waves as the count says, and one more.
    Barrier,
    /// Adds one to the semaphore.
    SemaV,
    /// Adds the count to the semaphore.
    SemaBr,
    /// Takes one from the semaphore, waiting for it.
    SemaP,
    /// Lets everybody go who waits for the semaphore.
    SemaReleaseAll,
}

/// The use of a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sync {
    /// What is done.
    pub op: SyncOp,
    /// To which resource.
    pub resource: u32,
    /// The count, for operations that have one.
    pub count: u32,
    /// What the resource answered last ([`SyncAnswer::Wait`]) if the wave waits already.
    pub ticket: Option<u64>,
}

/// What a resource answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyncAnswer {
    /// The wave goes on.
    Go,
    /// The wave asks again later, with this ticket.
    Wait(u64),
    /// There are no resources.
    Absent,
}

/// Operations, by the payload of their handlers.
const OPS: [(&str, SyncOp); 6] = [
    ("ds_gws_init", SyncOp::Init),
    ("ds_gws_barrier", SyncOp::Barrier),
    ("ds_gws_sema_v", SyncOp::SemaV),
    ("ds_gws_sema_br", SyncOp::SemaBr),
    ("ds_gws_sema_p", SyncOp::SemaP),
    ("ds_gws_sema_release_all", SyncOp::SemaReleaseAll),
];

/// The handler of a mnemonic, and the payload of [`Op::e`].
pub(crate) fn handler(name: &str) -> Option<(Versions, u16)> {
    let index = OPS.iter().position(|(known, _)| *known == name)?;
    Some(([request; 3], index as u16))
}

/// Leaves the request for the run loop, which has the way outside.
fn request(wave: &mut Wave, op: &Op) -> Flow {
    let (_, what) = OPS[usize::from(op.e) % 8 % OPS.len()];
    let lane = (wave.exec().trailing_zeros() & 63) as usize;
    let counted = matches!(what, SyncOp::Init | SyncOp::Barrier | SyncOp::SemaBr);
    wave.sync = Some(Sync {
        op: what,
        resource: (wave.s[M0] >> 16).wrapping_add(op.x as u32) & 63,
        count: if counted { wave.row(op.a).0[lane] } else { 0 },
        ticket: wave.sync.and_then(|before| before.ticket),
    });
    Flow::Sync
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_has_a_handler() {
        for (index, (name, _)) in OPS.iter().enumerate() {
            assert_eq!(
                handler(name).map(|(_, payload)| usize::from(payload)),
                Some(index)
            );
        }
        assert!(handler("ds_ordered_count").is_none());
    }
}
