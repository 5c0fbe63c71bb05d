//! Which part of the translator an operation belongs to.

use super::error::{invalid, unsupported, Reason};
use super::function::Function;
use super::{
    arithmetic, atomic, bits, compare, control, convert, dispatch, fbarrier, image, lanes, memory, misc,
    moves, multimedia, packed, queue, segments, signal,
};
use crate::brig::{Instruction, Opcode};

/// First operation of vendors.
const VENDOR: u16 = 32768;

/// Translates an instruction.
pub(super) fn translate<'a>(f: &mut Function<'a>, i: &Instruction<'a>) -> Result<(), Reason> {
    use Opcode as Op;
    if let Some(row) = arithmetic::row(i.opcode) {
        return arithmetic::translate(f, i, row);
    }
    match i.opcode {
        Op::NOP => Ok(()),
        Op::POPCOUNT | Op::FIRSTBIT | Op::LASTBIT => bits::count(f, i),
        Op::BITMASK | Op::BITEXTRACT | Op::BITINSERT => bits::string(f, i),
        Op::MOV => moves::mov(f, i),
        Op::COMBINE => moves::combine(f, i),
        Op::EXPAND => moves::expand(f, i),
        Op::LDA => segments::lda(f, i),
        Op::CMOV => moves::cmov(f, i),
        Op::SHUFFLE | Op::UNPACKLO | Op::UNPACKHI => packed::shuffle(f, i),
        Op::PACK => packed::pack(f, i),
        Op::UNPACK => packed::unpack(f, i),
        Op::CLASS => compare::class(f, i),
        Op::PACKCVT | Op::UNPACKCVT | Op::SAD | Op::SADHI => multimedia::translate(f, i),
        Op::SEGMENTP => segments::segmentp(f, i),
        Op::FTOS | Op::STOF => segments::convert(f, i),
        Op::NULLPTR => segments::null(f, i),
        Op::CMP => compare::translate(f, i),
        Op::CVT => convert::translate(f, i),
        Op::LD => memory::load(f, i),
        Op::ST => memory::store(f, i),
        Op::ALLOCA => memory::alloca(f, i),
        Op::ATOMIC | Op::ATOMICNORET => atomic::translate(f, i),
        Op::MEMFENCE | Op::IMAGEFENCE => atomic::fence(f, i),
        Op::SIGNAL | Op::SIGNALNORET => signal::translate(f, i),
        Op::RDIMAGE | Op::LDIMAGE | Op::STIMAGE | Op::QUERYIMAGE | Op::QUERYSAMPLER => image::translate(f, i),
        Op::CBR | Op::BR | Op::SBR => control::branch(f, i),
        Op::CALL | Op::SCALL | Op::ICALL => control::call(f, i),
        Op::RET => control::ret(f, i),
        Op::BARRIER | Op::WAVEBARRIER => lanes::barrier(f, i),
        Op::INITFBAR
        | Op::JOINFBAR
        | Op::WAITFBAR
        | Op::ARRIVEFBAR
        | Op::LEAVEFBAR
        | Op::RELEASEFBAR
        | Op::LDF => fbarrier::translate(f, i),
        Op::ACTIVELANECOUNT | Op::ACTIVELANEID | Op::ACTIVELANEMASK | Op::ACTIVELANEPERMUTE => {
            lanes::translate(f, i)
        }
        Op::ADDQUEUEWRITEINDEX
        | Op::CASQUEUEWRITEINDEX
        | Op::LDQUEUEREADINDEX
        | Op::LDQUEUEWRITEINDEX
        | Op::STQUEUEREADINDEX
        | Op::STQUEUEWRITEINDEX => queue::translate(f, i),
        Op::CLEARDETECTEXCEPT | Op::GETDETECTEXCEPT | Op::SETDETECTEXCEPT => {
            unsupported("exceptions are not detected")
        }
        Op::CLOCK
        | Op::CUID
        | Op::DEBUGTRAP
        | Op::GROUPBASEPTR
        | Op::KERNARGBASEPTR
        | Op::LANEID
        | Op::MAXCUID
        | Op::MAXWAVEID
        | Op::WAVEID => misc::translate(f, i),
        other if dispatch::is_query(other) => dispatch::translate(f, i),
        Opcode(VENDOR..) => unsupported("it is a vendor's operation"),
        _ => invalid("HSAIL has no such operation"),
    }
}
