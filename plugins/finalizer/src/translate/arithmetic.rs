//! Operations whose result depends lane by lane on their sources (PRM 5.2 to 5.7, 5.11 to 5.15): a table, and how packed
//! values go through it.

use super::builder::{Builder, Value};
use super::error::{invalid, Reason};
use super::function::Function;
use super::operand::ty_of;
use super::{float, integer, rounding};
use crate::brig::{Form, Instruction, Opcode, Pack, Round, Type};

/// How an operation is done in IR, for one kind of type.
#[derive(Clone, Copy)]
pub(super) enum Op {
    /// Not with such a type.
    None,
    /// An instruction of IR.
    Plain(&'static str),
    /// An intrinsic that is named for the type, which all its arguments have.
    Call(&'static str),
    /// The same with a `false` behind its arguments.
    CallFalse(&'static str),
    /// Several instructions.
    Steps(fn(&mut Builder, &[Value]) -> Value),
}

/// How rounding that is not to nearest changes an operation on floating-point numbers.
#[derive(Clone, Copy)]
pub(super) enum Directed {
    /// Not at all.
    Exact,
    /// The machine instruction of this name does it.
    Machine(&'static str),
    /// Several instructions.
    Steps(fn(&mut Builder, &[Value], Round) -> Value),
}

/// An operation.
#[derive(Clone, Copy)]
pub(super) struct Row {
    opcode: Opcode,
    sources: usize,
    signed: Op,
    unsigned: Op,
    /// With results that saturate.
    saturating: [Op; 2],
    float: Op,
    bits: Op,
    directed: Directed,
    /// Whether subnormal numbers can be flushed.
    flushes: bool,
    /// Whether the second source is a number of bits, `u32` whatever the type.
    shifts: bool,
    /// Sizes of values that are not packed.
    sizes: &'static [u32],
    /// Whether there is a form for packed values.
    packed: bool,
}

const ROW: Row = Row {
    opcode: Opcode::NOP,
    sources: 2,
    signed: Op::None,
    unsigned: Op::None,
    saturating: [Op::None; 2],
    float: Op::None,
    bits: Op::None,
    directed: Exact,
    flushes: true,
    shifts: false,
    sizes: &[16, 32, 64],
    packed: true,
};

const fn int(opcode: Opcode, sources: usize, op: Op) -> Row {
    signs(opcode, sources, op, op)
}

const fn signs(opcode: Opcode, sources: usize, signed: Op, unsigned: Op) -> Row {
    Row {
        opcode,
        sources,
        signed,
        unsigned,
        ..ROW
    }
}

const fn bits(opcode: Opcode, sources: usize, op: Op) -> Row {
    Row {
        opcode,
        sources,
        bits: op,
        sizes: &[1, 32, 64],
        packed: false,
        ..ROW
    }
}

const fn float(opcode: Opcode, sources: usize, op: Op) -> Row {
    Row {
        opcode,
        sources,
        float: op,
        ..ROW
    }
}

impl Row {
    const fn or_float(self, op: Op, directed: Directed) -> Self {
        Self {
            float: op,
            directed,
            ..self
        }
    }

    const fn or_saturating(self, signed: Op, unsigned: Op) -> Self {
        Self {
            saturating: [signed, unsigned],
            ..self
        }
    }

    /// An operation on the bits of floating-point numbers.
    const fn unflushed(self) -> Self {
        Self {
            flushes: false,
            ..self
        }
    }

    /// Not for packed values.
    const fn alone(self) -> Self {
        Self {
            packed: false,
            ..self
        }
    }

    /// Only for values of these sizes.
    const fn only(self, sizes: &'static [u32]) -> Self {
        Self {
            sizes,
            packed: false,
            ..self
        }
    }

    /// Only for packed values.
    const fn bytes(self) -> Self {
        Self {
            sizes: &[],
            packed: true,
            ..self
        }
    }

    const fn shifting(self) -> Self {
        Self { shifts: true, ..self }
    }
}

use Directed::{Exact, Machine};
use Op::{Call, CallFalse, Plain, Steps};

/// The operations.
#[rustfmt::skip]
static TABLE: &[Row] = &[
    signs(Opcode::ABS, 1, CallFalse("llvm.abs"), Op::None).or_float(Steps(float::abs), Exact).unflushed(),
    int(Opcode::ADD, 2, Plain("add")).or_float(Plain("fadd"), Machine("v_add"))
        .or_saturating(Call("llvm.sadd.sat"), Call("llvm.uadd.sat")),
    int(Opcode::BORROW, 2, Steps(integer::borrow)).alone(),
    int(Opcode::CARRY, 2, Steps(integer::carry)).alone(),
    float(Opcode::CEIL, 1, Call("llvm.ceil")),
    float(Opcode::COPYSIGN, 2, Steps(float::copysign)).unflushed(),
    signs(Opcode::DIV, 2, Steps(integer::divide_signed), Steps(integer::divide))
        .or_float(Steps(float::divide), Directed::Steps(rounding::quotient)),
    float(Opcode::FLOOR, 1, Call("llvm.floor")),
    float(Opcode::FMA, 3, Call("llvm.fma")).or_float(Call("llvm.fma"), Machine("v_fma")).alone(),
    float(Opcode::FRACT, 1, Steps(float::fract)),
    int(Opcode::MAD, 3, Steps(integer::multiply_add))
        .or_float(Steps(float::multiply_add), Directed::Steps(rounding::multiply_add)).alone(),
    signs(Opcode::MAX, 2, Call("llvm.smax"), Call("llvm.umax")).or_float(Steps(float::maximum), Exact),
    signs(Opcode::MIN, 2, Call("llvm.smin"), Call("llvm.umin")).or_float(Steps(float::minimum), Exact),
    int(Opcode::MUL, 2, Plain("mul")).or_float(Plain("fmul"), Machine("v_mul"))
        .or_saturating(Steps(integer::multiply_saturated_signed), Steps(integer::multiply_saturated)),
    signs(Opcode::MULHI, 2, Steps(integer::multiply_high_signed), Steps(integer::multiply_high)),
    signs(Opcode::NEG, 1, Steps(integer::negate), Op::None).or_float(Steps(float::negate), Exact).unflushed(),
    signs(Opcode::REM, 2, Steps(integer::remainder_signed), Steps(integer::remainder)).alone(),
    float(Opcode::RINT, 1, Call("llvm.rint")),
    float(Opcode::SQRT, 1, Steps(float::root)).or_float(Steps(float::root), Directed::Steps(rounding::root)),
    int(Opcode::SUB, 2, Plain("sub")).or_float(Plain("fsub"), Machine("v_sub"))
        .or_saturating(Call("llvm.ssub.sat"), Call("llvm.usub.sat")),
    float(Opcode::TRUNC, 1, Call("llvm.trunc")),
    signs(Opcode::MAD24, 3, Steps(integer::mad24_signed), Steps(integer::mad24)).only(&[32]),
    signs(Opcode::MAD24HI, 3, Steps(integer::mad24_high_signed), Steps(integer::mad24_high)).only(&[32]),
    signs(Opcode::MUL24, 2, Steps(integer::mul24_signed), Steps(integer::mul24)).only(&[32]),
    signs(Opcode::MUL24HI, 2, Steps(integer::mul24_high_signed), Steps(integer::mul24_high)).only(&[32]),
    int(Opcode::SHL, 2, Plain("shl")).shifting(),
    signs(Opcode::SHR, 2, Plain("ashr"), Plain("lshr")).shifting(),
    bits(Opcode::AND, 2, Plain("and")),
    bits(Opcode::OR, 2, Plain("or")),
    bits(Opcode::XOR, 2, Plain("xor")),
    bits(Opcode::NOT, 1, Steps(integer::not)),
    bits(Opcode::BITREV, 1, Call("llvm.bitreverse")).only(&[32, 64]),
    bits(Opcode::BITSELECT, 3, Steps(integer::bit_select)).only(&[32, 64]),
    float(Opcode::NCOS, 1, Call("llvm.cos")).only(&[32]).unflushed(),
    float(Opcode::NSIN, 1, Call("llvm.sin")).only(&[32]).unflushed(),
    float(Opcode::NEXP2, 1, Call("llvm.exp2")).only(&[32]).unflushed(),
    float(Opcode::NLOG2, 1, Call("llvm.log2")).only(&[32]).unflushed(),
    float(Opcode::NFMA, 3, Call("llvm.fma")).alone().unflushed(),
    float(Opcode::NRCP, 1, Call("llvm.amdgcn.rcp")).alone().unflushed(),
    float(Opcode::NRSQRT, 1, Call("llvm.amdgcn.rsq")).alone().unflushed(),
    float(Opcode::NSQRT, 1, Call("llvm.amdgcn.sqrt")).alone().unflushed(),
    bits(Opcode::BITALIGN, 3, Steps(integer::bit_align)).only(&[32]),
    bits(Opcode::BYTEALIGN, 3, Steps(integer::byte_align)).only(&[32]),
    signs(Opcode::LERP, 3, Op::None, Steps(integer::lerp)).bytes(),
];

/// The row of an operation, if it is one of these.
pub(super) fn row(opcode: Opcode) -> Option<&'static Row> {
    TABLE.iter().find(|row| row.opcode == opcode)
}

/// What an instruction says beside its type.
struct Modifiers {
    ftz: bool,
    round: Round,
    pack: Pack,
}

fn modifiers(f: &Function<'_>, i: &Instruction<'_>) -> Modifiers {
    let (ftz, round, pack) = match i.form {
        Form::Mod { ftz, round, pack } => (ftz, round, pack),
        _ => (false, Round::DEFAULT, Pack::NONE),
    };
    Modifiers {
        ftz,
        round: rounding::effective(f, round),
        pack,
    }
}

/// Which lanes of the sources take part.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lanes {
    All,
    /// The lowest of every source; the rest of the destination stays.
    Lowest,
    /// All, with the lowest of a source for all of its lanes.
    Broadcast(usize),
}

fn lanes(pack: Pack, sources: usize) -> Result<(Lanes, bool), Reason> {
    Ok(match (pack, sources) {
        (Pack::P, 1) | (Pack::PP, 2) => (Lanes::All, false),
        (Pack::P_SAT, 1) | (Pack::PP_SAT, 2) => (Lanes::All, true),
        (Pack::S, 1) | (Pack::SS, 2) => (Lanes::Lowest, false),
        (Pack::S_SAT, 1) | (Pack::SS_SAT, 2) => (Lanes::Lowest, true),
        (Pack::PS, 2) => (Lanes::Broadcast(1), false),
        (Pack::PS_SAT, 2) => (Lanes::Broadcast(1), true),
        (Pack::SP, 2) => (Lanes::Broadcast(0), false),
        (Pack::SP_SAT, 2) => (Lanes::Broadcast(0), true),
        // Operations that have no such control: shifts, and those on bytes.
        (Pack::NONE, _) => (Lanes::All, false),
        _ => return invalid("its packing control is not one for its number of sources"),
    })
}

/// Translates an operation of the table.
pub(super) fn translate<'a>(f: &mut Function<'a>, i: &Instruction<'a>, row: &Row) -> Result<(), Reason> {
    let ty = ty_of(i.ty)?;
    let modifiers = modifiers(f, i);
    let (lanes, saturates) = if ty.is_vector() {
        lanes(modifiers.pack, row.sources)?
    } else {
        (Lanes::All, false)
    };
    let op = select(row, i.ty, saturates)?;
    let mut sources = Vec::new();
    for index in 0..row.sources {
        sources.push(if row.shifts && index == 1 {
            shift_count(f, i, i.ty)?
        } else {
            f.source(i, index + 1, i.ty)?
        });
    }
    match lanes {
        Lanes::All => {}
        Lanes::Broadcast(index) => {
            let lowest = f.b.lane(&sources[index], 0);
            sources[index] = f.b.splat(&lowest, ty);
        }
        Lanes::Lowest => {
            for source in &mut sources {
                *source = f.b.lane(source, 0);
            }
        }
    }
    let result = apply(f, row, op, &sources, &modifiers)?;
    let result = if lanes == Lanes::Lowest {
        let old = f.destination(i)?;
        let old = f.read(crate::brig::Operand::Register(old), i.ty)?;
        f.b.insert(&old, &result, "0")
    } else {
        result
    };
    f.write(i, i.ty, &result)
}

/// Whether an operation has a type: what IR would make of another is not what HSAIL says.
fn has_type(row: &Row, ty: Type) -> bool {
    let is_integer = ty.is_signed() || ty.is_unsigned();
    let is_bits = matches!(ty, Type::B1 | Type::B32 | Type::B64);
    match ty.packed_bits() {
        // The only operation on bytes alone has them in 32 bits.
        Some(bits) => row.packed && (!row.sizes.is_empty() || bits == 32 && ty.lanes() == 4),
        None if is_integer => row.sizes.contains(&ty.bits()) && ty.bits() >= 32,
        None => row.sizes.contains(&ty.bits()) && (ty.is_float() || is_bits),
    }
}

fn select(row: &Row, ty: Type, saturates: bool) -> Result<Op, Reason> {
    if !has_type(row, ty) {
        return invalid("the operation has no such type");
    }
    let op = if ty.is_float() {
        row.float
    } else if ty.is_signed() {
        if saturates {
            row.saturating[0]
        } else {
            row.signed
        }
    } else if ty.is_unsigned() {
        if saturates {
            row.saturating[1]
        } else {
            row.unsigned
        }
    } else {
        row.bits
    };
    match op {
        Op::None => invalid("the operation has no such type"),
        // Only quotients of floating-point numbers are packed.
        _ if row.opcode == Opcode::DIV && !ty.is_float() && ty.packed_bits().is_some() => {
            invalid("the operation has no such type")
        }
        _ if saturates && ty.is_float() => invalid("only integers saturate"),
        op => Ok(op),
    }
}

fn apply(
    f: &mut Function<'_>,
    row: &Row,
    op: Op,
    sources: &[Value],
    modifiers: &Modifiers,
) -> Result<Value, Reason> {
    let b = &mut f.b;
    let is_float = sources[0].ty.is_float();
    let flushes = is_float && row.flushes && modifiers.ftz;
    let sources: Vec<Value> = if flushes {
        sources.iter().map(|source| float::flush(b, source)).collect()
    } else {
        sources.to_vec()
    };
    let result = if is_float && modifiers.round != Round::NEAR {
        match row.directed {
            Exact => compute(b, op, &sources),
            Machine(name) => rounding::machine(b, name, &sources, modifiers.round),
            Directed::Steps(steps) => rounding::by_lane(b, &sources, modifiers.round, steps),
        }
    } else {
        compute(b, op, &sources)
    };
    Ok(if flushes { float::flush(b, &result) } else { result })
}

fn compute(b: &mut Builder, op: Op, sources: &[Value]) -> Value {
    let all: Vec<&Value> = sources.iter().collect();
    match op {
        Plain(name) => b.binary(name, &sources[0], &sources[1]),
        Call(name) => b.overloaded(name, &all),
        CallFalse(name) => {
            let (no, ty) = (Value::int(super::ty::Ty::I1, 0), sources[0].ty);
            let all: Vec<&Value> = all.into_iter().chain([&no]).collect();
            b.call(&format!("{name}.{}", ty.mangled()), ty, &all)
        }
        Steps(steps) => steps(b, sources),
        Op::None => sources[0].clone(),
    }
}

/// The number of bits of a shift, which only counts modulo the size of a lane, in every lane.
fn shift_count<'a>(f: &mut Function<'a>, i: &Instruction<'a>, ty: Type) -> Result<Value, Reason> {
    let to = ty_of(ty)?;
    let count = f.source(i, 2, Type::U32)?;
    let count = f.b.with_constant("and", &count, to.lane_bits() - 1);
    let count = f.b.resize(&count, to.lane(), false);
    Ok(f.b.splat(&count, to))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_stands_in_the_table_once() {
        for (index, row) in TABLE.iter().enumerate() {
            let again = TABLE[index + 1..].iter().find(|other| other.opcode == row.opcode);
            assert!(again.is_none(), "{:?}", row.opcode);
        }
    }

    #[test]
    fn operations_have_the_types_of_the_manual() {
        let has = |opcode, ty| row(opcode).is_some_and(|row| select(row, ty, false).is_ok());
        let u8x4 = Type(1 | 1 << 5);
        assert!(has(Opcode::ADD, Type::U32) && has(Opcode::ADD, u8x4) && has(Opcode::ADD, Type::F16));
        assert!(
            !has(Opcode::ADD, Type::U8) && !has(Opcode::ADD, Type::B32) && !has(Opcode::ADD, Type::SIG64)
        );
        assert!(has(Opcode::NSIN, Type::F32) && !has(Opcode::NSIN, Type::F64));
        assert!(has(Opcode::LERP, u8x4) && !has(Opcode::LERP, Type::U32));
        assert!(has(Opcode::AND, Type::B1) && !has(Opcode::AND, Type::B128) && !has(Opcode::AND, u8x4));
        assert!(!has(Opcode::DIV, u8x4) && !has(Opcode::FMA, Type(10 | 2 << 5)));
    }

    #[test]
    fn packing_controls_fit_the_number_of_sources() {
        assert!(matches!(lanes(Pack::SP_SAT, 2), Ok((Lanes::Broadcast(0), true))));
        assert!(matches!(lanes(Pack::S, 1), Ok((Lanes::Lowest, false))));
        assert!(lanes(Pack::P, 2).is_err() && lanes(Pack::SS, 1).is_err());
    }
}
