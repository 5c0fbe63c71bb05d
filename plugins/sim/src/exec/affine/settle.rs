//! Writing the rows that operations on lanes are about to read.

use super::KNOWN;
use crate::exec::level::{versions, Host, Level};
use crate::exec::op::{Flow, Handler, Op};
use crate::exec::wave::Wave;

/// Writes the stale rows among `registers`.
#[inline(always)]
pub(super) fn settle(wave: &mut Wave, registers: u64) {
    let mut stale = wave.formulas.stale & registers;
    wave.formulas.stale &= !registers;
    while stale != 0 {
        let index = stale.trailing_zeros() as usize & (KNOWN - 1);
        stale &= stale - 1;
        wave.formulas.by_register[index].expand(&mut wave.v[index]);
    }
}

/// Prepares for an operation on lanes: what it reads is in rows, and what it writes has no formula any more. Lanes that are
/// not active are read by every write.
#[inline(always)]
fn prepare<H: Host>(wave: &mut Wave, op: &Op) -> Flow {
    let kept = if wave.exec() == !0 { 0 } else { op.writes };
    settle(wave, op.reads | kept);
    wave.formulas.forget(op.writes);
    Flow::Next
}

versions!(prepare_versions, prepare, [], []);

/// The handler that prepares for an operation.
pub(crate) fn settler(level: Level) -> Handler {
    prepare_versions::all()[level as usize]
}

/// Goes back to rows altogether.
#[cold]
pub(crate) fn forget(wave: &mut Wave) {
    settle(wave, !0);
    wave.formulas.forget(!0);
}
