//! Rounding up, down and to zero (PRM 4.19.2).
//!
//! LLVM knows nothing of the rounding mode of AMD GPUs, so the instruction that rounds stands between two that set the mode,
//! all three in one piece of assembly that nothing can come between. Bits 3:0 of MODE are the modes of single, and of half
//! and double precision; all code runs with 0, to nearest.

use super::builder::{Builder, Value};
use super::error::{unsupported, Reason};
use super::float;
use super::function::Function;
use super::ty::{Scalar, Ty};
use crate::brig::Round;

/// The rounding of an instruction: its own, else that of its module, else that of its program, else to nearest.
pub(super) fn effective(f: &Function<'_>, round: Round) -> Round {
    let named = |round: &Round| matches!(*round, Round::NEAR | Round::ZERO | Round::UP | Round::DOWN);
    let all = [
        round,
        f.module.facts().rounding,
        f.unit.linked.settings().rounding,
    ];
    all.into_iter().find(named).unwrap_or(Round::NEAR)
}

/// Both fields of MODE.
fn mode(round: Round) -> u32 {
    let one = match round {
        Round::UP => 1,
        Round::DOWN => 2,
        Round::ZERO => 3,
        _ => 0,
    };
    one | one << 2
}

/// An assembly template with operands `$0` (the result), `$1` and so on.
fn assembly(b: &mut Builder, ty: Ty, template: &str, sources: &[&Value], round: Round) -> Value {
    const REGISTER: &str = "hwreg(HW_REG_MODE, 0, 4)";
    let mode = mode(round);
    let arguments: Vec<String> = sources.iter().map(|source| source.argument()).collect();
    // The result may not share a register with a source only if it is written before that is read; one instruction
    // reads first.
    let constraints = vec![",v"; sources.len()].concat();
    let text = format!(
        "call {ty} asm \"s_setreg_imm32_b32 {REGISTER}, {mode}\\0A{template}\\0As_setreg_imm32_b32 {REGISTER}, 0\", \
         \"=v{constraints}\"({})",
        arguments.join(", ")
    );
    b.value(ty, text)
}

/// A machine instruction for every lane.
pub(super) fn machine(b: &mut Builder, name: &str, sources: &[Value], round: Round) -> Value {
    let ty = sources[0].ty;
    b.by_lane(ty, |b, lane| {
        let lanes: Vec<Value> = sources.iter().map(|source| b.lane(source, lane)).collect();
        let lanes: Vec<&Value> = lanes.iter().collect();
        scalar(b, name, &lanes, round)
    })
}

fn scalar(b: &mut Builder, name: &str, sources: &[&Value], round: Round) -> Value {
    let ty = sources[0].ty;
    let bits = ty.bits();
    // There is no subtraction of double precision; an addition can negate.
    let template = match (name, bits, sources.len()) {
        ("v_sub", 64, _) => "v_add_f64 $0, $1, -$2".to_owned(),
        ("v_add" | "v_mul", 64, _) => format!("{name}_f64 $0, $1, $2"),
        (_, _, 3) => format!("{name}_f{bits} $0, $1, $2, $3"),
        _ => format!("{name}_f{bits}_e64 $0, $1, $2"),
    };
    assembly(b, ty, &template, sources, round)
}

/// A function for every lane.
pub(super) fn by_lane(
    b: &mut Builder,
    sources: &[Value],
    round: Round,
    steps: fn(&mut Builder, &[Value], Round) -> Option<Value>,
) -> Result<Value, Reason> {
    let mut is_done = true;
    let value = b.by_lane(sources[0].ty, |b, lane| {
        let lanes: Vec<Value> = sources.iter().map(|source| b.lane(source, lane)).collect();
        steps(b, &lanes, round).unwrap_or_else(|| {
            is_done = false;
            lanes[0].clone()
        })
    });
    if !is_done {
        return unsupported("it does not round in this direction with this type");
    }
    Ok(value)
}

/// `mad`: both steps round.
pub(super) fn multiply_add(b: &mut Builder, s: &[Value], round: Round) -> Option<Value> {
    let product = scalar(b, "v_mul", &[&s[0], &s[1]], round);
    Some(scalar(b, "v_add", &[&product, &s[2]], round))
}

/// A quotient of half or single precision: of double precision first.
pub(super) fn quotient(b: &mut Builder, s: &[Value], round: Round) -> Option<Value> {
    let ty = s[0].ty;
    if ty.scalar == Scalar::Double {
        return None;
    }
    let [x, y] = [0, 1].map(|index| b.cast("fpext", &s[index], Ty::DOUBLE));
    let near = b.binary("fdiv", &x, &y);
    // What is left has the sign of the error times that of the divisor.
    let negative = float::negate(b, std::slice::from_ref(&near));
    let left = b.overloaded("llvm.fma", &[&negative, &y, &x]);
    let left = float::copysign_product(b, &left, &y);
    let exact = nudge(b, &near, &left);
    Some(narrow(b, &exact, ty, round))
}

/// A square root of half or single precision: of double precision first.
pub(super) fn root(b: &mut Builder, s: &[Value], round: Round) -> Option<Value> {
    let ty = s[0].ty;
    if ty.scalar == Scalar::Double {
        return None;
    }
    let x = b.cast("fpext", &s[0], Ty::DOUBLE);
    let near = float::root_double(b, &x);
    let negative = float::negate(b, std::slice::from_ref(&near));
    let left = b.overloaded("llvm.fma", &[&negative, &near, &x]);
    let exact = nudge(b, &near, &left);
    Some(narrow(b, &exact, ty, round))
}

/// The number next to `near` on the side of `left`, unless that is zero or no number: so that it is on the right side of
/// the numbers of lower precision.
fn nudge(b: &mut Builder, near: &Value, left: &Value) -> Value {
    let zero = Value::float(Ty::DOUBLE, 0);
    let is_less = b.compare("fcmp olt", left, &zero);
    let is_more = b.compare("fcmp ogt", left, &zero);
    let bits = b.bitcast(near, Ty::I64);
    let is_negative = b.compare_constant("icmp slt", &bits, 0);
    // Away from zero is one more in the pattern, whatever the sign.
    let away = b.select(&is_negative, &is_less, &is_more);
    let toward = b.select(&is_negative, &is_more, &is_less);
    let up = b.resize(&away, Ty::I64, false);
    let down = b.resize(&toward, Ty::I64, true);
    let step = b.binary("or", &up, &down);
    let bits = b.binary("add", &bits, &step);
    let moved = b.bitcast(&bits, Ty::DOUBLE);
    let size = float::abs(b, std::slice::from_ref(near));
    let infinity = Value::float(Ty::DOUBLE, 0x7ff0_0000_0000_0000);
    let is_finite = b.compare("fcmp olt", &size, &infinity);
    b.select(&is_finite, &moved, near)
}

/// Lower precision, step by step: directed rounding of a directed rounding is the directed rounding.
pub(super) fn narrow(b: &mut Builder, value: &Value, to: Ty, round: Round) -> Value {
    let mut value = value.clone();
    if value.ty == Ty::DOUBLE && to != Ty::DOUBLE {
        value = assembly(b, Ty::FLOAT, "v_cvt_f32_f64_e64 $0, $1", &[&value], round);
    }
    if value.ty == Ty::FLOAT && to == Ty::HALF {
        value = assembly(b, Ty::HALF, "v_cvt_f16_f32_e64 $0, $1", &[&value], round);
    }
    value
}

/// An integer of 32 or 64 bits as a floating-point number.
pub(super) fn of_integer(b: &mut Builder, value: &Value, signed: bool, to: Ty, round: Round) -> Value {
    let letter = if signed { 'i' } else { 'u' };
    if value.ty == Ty::I32 && to == Ty::DOUBLE {
        let op = if signed { "sitofp" } else { "uitofp" };
        return b.cast(op, value, to);
    }
    if value.ty == Ty::I32 {
        let single = assembly(
            b,
            Ty::FLOAT,
            &format!("v_cvt_f32_{letter}32_e64 $0, $1"),
            &[value],
            round,
        );
        return narrow(b, &single, to, round);
    }
    // Both halves are exact, and so is the factor; the sum rounds.
    let high = b.with_constant("lshr", value, 32);
    let high = b.resize(&high, Ty::I32, false);
    let high = b.cast(if signed { "sitofp" } else { "uitofp" }, &high, Ty::DOUBLE);
    let factor = Value::float(Ty::DOUBLE, 0x41f0_0000_0000_0000);
    let high = b.binary("fmul", &high, &factor);
    let low = b.resize(value, Ty::I32, false);
    let low = b.cast("uitofp", &low, Ty::DOUBLE);
    let sum = scalar(b, "v_add", &[&high, &low], round);
    narrow(b, &sum, to, round)
}
