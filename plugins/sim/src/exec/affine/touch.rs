//! Which vector registers an operation reads and writes.

use super::bits;
use crate::exec::op::{flag, Op};
use crate::exec::slot;
use crate::exec::valu::SHAPED;
use crate::isa::{Family, Inst, Operand, Slot};

/// Registers of an operand.
fn of(operand: Operand, slot: Slot) -> u64 {
    slot::code(operand, slot.ty).map_or(0, |(code, _)| bits(code, slot.dwords))
}

/// Registers that the lowered instruction reads and writes, of those that can have a formula. It may be said to read more.
pub(crate) fn touched(inst: &Inst, op: &Op) -> (u64, u64) {
    let row = inst.row;
    let known = match row.family {
        Family::Sop1 | Family::Sop2 | Family::Sopc | Family::Sopk | Family::Sopp | Family::Smem => {
            return (0, 0)
        }
        Family::Vop1 | Family::Vop2 | Family::Vop3 | Family::Vopc | Family::Vop3p => {
            // These find registers by other means than their operands, or write two.
            !row.name.starts_with("v_movrel") && !row.name.starts_with("v_swap")
        }
        Family::Ds | Family::Flat | Family::Global | Family::Scratch | Family::Mubuf => true,
        Family::Mtbuf | Family::Mimg | Family::Vintrp | Family::Exp => false,
    };
    if !known {
        return (!0, !0);
    }
    let mut reads = (0..4).fold(0, |all, i| all | of(inst.src[i], row.src[i]));
    if row.family == Family::Mubuf {
        // An index and an offset are two registers in one operand.
        reads |= of(
            inst.src[0],
            Slot {
                dwords: 2,
                ..row.src[0]
            },
        );
    }
    let writes = of(inst.dst, row.dst);
    // Parts of the old value stay, or it is a source that only the operation names.
    let plain = matches!(row.family, Family::Vop1 | Family::Vop2 | Family::Vop3)
        && op.e & (SHAPED | flag::KEEP_HALF) == 0
        && row.dst.dwords <= 2
        && op.c != op.d
        && !row.name.starts_with("v_writelane");
    let whole = row.name.ends_with("load_dword") && matches!(row.family, Family::Global | Family::Flat);
    if !plain && !whole {
        reads |= of(inst.dst, row.dst);
    }
    (reads, writes)
}
