//! Rounding up, down and to zero (PRM 4.19.2).
//!
//! LLVM knows nothing of the rounding mode of AMD GPUs, so the instruction that rounds stands between two that set the mode,
//! all three in one piece of assembly that nothing can come between. Bits 3:0 of MODE are the modes of single, and of half
//! and double precision; all code runs with 0, to nearest.

use super::builder::{Builder, Value};
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
    steps: fn(&mut Builder, &[Value], Round) -> Value,
) -> Value {
    b.by_lane(sources[0].ty, |b, lane| {
        let lanes: Vec<Value> = sources.iter().map(|source| b.lane(source, lane)).collect();
        steps(b, &lanes, round)
    })
}

/// `mad`: both steps round.
pub(super) fn multiply_add(b: &mut Builder, s: &[Value], round: Round) -> Value {
    let product = scalar(b, "v_mul", &[&s[0], &s[1]], round);
    scalar(b, "v_add", &[&product, &s[2]], round)
}

/// A quotient: of half or single precision by one of double precision.
pub(super) fn quotient(b: &mut Builder, s: &[Value], round: Round) -> Value {
    let ty = s[0].ty;
    if ty.scalar == Scalar::Double {
        return quotient_double(b, s, round);
    }
    let [x, y] = [0, 1].map(|index| b.cast("fpext", &s[index], Ty::DOUBLE));
    let near = b.binary("fdiv", &x, &y);
    // What is left has the sign of the error times that of the divisor.
    let negative = float::negate(b, std::slice::from_ref(&near));
    let left = b.overloaded("llvm.fma", &[&negative, &y, &x]);
    let left = float::copysign_product(b, &left, &y);
    let exact = off(b, &near, &left);
    narrow(b, &exact, ty, round)
}

/// A square root: of half or single precision by one of double precision.
pub(super) fn root(b: &mut Builder, s: &[Value], round: Round) -> Value {
    let ty = s[0].ty;
    if ty.scalar == Scalar::Double {
        return root_double(b, &s[0], round);
    }
    let x = b.cast("fpext", &s[0], Ty::DOUBLE);
    let near = float::root_double(b, &x);
    let negative = float::negate(b, std::slice::from_ref(&near));
    let left = b.overloaded("llvm.fma", &[&negative, &near, &x]);
    let exact = off(b, &near, &left);
    narrow(b, &exact, ty, round)
}

/// A quotient of double precision: that of the fractions, which neither overflows nor loses bits, corrected by what is left
/// of the division, times a power of two.
fn quotient_double(b: &mut Builder, s: &[Value], round: Round) -> Value {
    const FRACTION: &str = "llvm.amdgcn.frexp.mant.f64";
    const EXPONENT: &str = "llvm.amdgcn.frexp.exp.i32.f64";
    let [x, y] = [0, 1].map(|index| b.call(FRACTION, Ty::DOUBLE, &[&s[index]]));
    let [up, down] = [0, 1].map(|index| b.call(EXPONENT, Ty::I32, &[&s[index]]));
    let near = b.binary("fdiv", &x, &y);
    let negative = float::negate(b, std::slice::from_ref(&near));
    let left = b.overloaded("llvm.fma", &[&negative, &y, &x]);
    let left = float::copysign_product(b, &left, &y);
    let mut value = in_direction(b, &near, &left, round);
    // Three factors reach every exponent, and rounding in a direction again and again is rounding once.
    let mut exponent = b.binary("sub", &up, &down);
    for _ in 0..3 {
        let [least, most] = [-1000, 1000].map(|bound| Value::int(Ty::I32, bound));
        let part = b.overloaded("llvm.smax", &[&exponent, &least]);
        let part = b.overloaded("llvm.smin", &[&part, &most]);
        exponent = b.binary("sub", &exponent, &part);
        let biased = b.with_constant("add", &part, 1023);
        let bits = b.resize(&biased, Ty::I64, false);
        let bits = b.with_constant("shl", &bits, 52);
        let factor = b.bitcast(&bits, Ty::DOUBLE);
        value = scalar(b, "v_mul", &[&value, &factor], round);
    }
    // Zeros, infinities and what is no number give exact results.
    let plain = b.binary("fdiv", &s[0], &s[1]);
    let mut is_plain = Value::int(Ty::I1, 0);
    for source in s {
        let size = float::abs(b, std::slice::from_ref(source));
        let is_special = not_between_zero_and_infinity(b, &size);
        is_plain = b.binary("or", &is_plain, &is_special);
    }
    b.select(&is_plain, &plain, &value)
}

/// A root of double precision. Small numbers are scaled, so that what is left of them is a number, too.
fn root_double(b: &mut Builder, x: &Value, round: Round) -> Value {
    let [limit, up, down, one] = [
        0x1430_0000_0000_0000,
        0x4ff0_0000_0000_0000,
        0x37f0_0000_0000_0000,
        0x3ff0_0000_0000_0000,
    ]
    .map(|bits| Value::float(Ty::DOUBLE, bits));
    let is_small = b.compare("fcmp olt", x, &limit);
    let up = b.select(&is_small, &up, &one);
    let down = b.select(&is_small, &down, &one);
    let scaled = b.binary("fmul", x, &up);
    let near = float::root_double(b, &scaled);
    let negative = float::negate(b, std::slice::from_ref(&near));
    let left = b.overloaded("llvm.fma", &[&negative, &near, &scaled]);
    let value = in_direction(b, &near, &left, round);
    let value = b.binary("fmul", &value, &down);
    let is_special = not_between_zero_and_infinity(b, x);
    b.select(&is_special, &near, &value)
}

/// Whether a number is none that is rounded.
fn not_between_zero_and_infinity(b: &mut Builder, x: &Value) -> Value {
    let [zero, infinity] = [0, 0x7ff0_0000_0000_0000].map(|bits| Value::float(Ty::DOUBLE, bits));
    let is_above = b.compare("fcmp ogt", x, &zero);
    let is_below = b.compare("fcmp olt", x, &infinity);
    let is_inside = b.binary("and", &is_above, &is_below);
    b.with_constant("xor", &is_inside, 1)
}

/// The exact number is less, and more, than one from which `left` is left.
fn sides(b: &mut Builder, left: &Value) -> [Value; 2] {
    let zero = Value::float(Ty::DOUBLE, 0);
    ["fcmp olt", "fcmp ogt"].map(|op| b.compare(op, left, &zero))
}

/// The number next to `near` on the side of `left`, unless that is zero or no number: so that it is on the right side of
/// the numbers of lower precision.
fn off(b: &mut Builder, near: &Value, left: &Value) -> Value {
    let [is_less, is_more] = sides(b, left);
    moved(b, near, &is_more, &is_less)
}

/// The number that rounding in a direction gives where `near` is the nearest one.
fn in_direction(b: &mut Builder, near: &Value, left: &Value, round: Round) -> Value {
    let [is_less, is_more] = sides(b, left);
    let never = Value::int(Ty::I1, 0);
    let (up, down) = match round {
        Round::UP => (is_more, never),
        Round::DOWN => (never, is_less),
        _ => {
            let zero = Value::float(Ty::DOUBLE, 0);
            let is_negative = b.compare("fcmp olt", near, &zero);
            let is_positive = b.compare("fcmp ogt", near, &zero);
            (
                b.binary("and", &is_more, &is_negative),
                b.binary("and", &is_less, &is_positive),
            )
        }
    };
    moved(b, near, &up, &down)
}

/// The next larger or smaller number of one that is finite.
fn moved(b: &mut Builder, near: &Value, up: &Value, down: &Value) -> Value {
    let bits = b.bitcast(near, Ty::I64);
    let is_negative = b.compare_constant("icmp slt", &bits, 0);
    // Away from zero is one more in the pattern, whatever the sign.
    let away = b.select(&is_negative, down, up);
    let toward = b.select(&is_negative, up, down);
    let more = b.resize(&away, Ty::I64, false);
    let less = b.resize(&toward, Ty::I64, true);
    let step = b.binary("or", &more, &less);
    let bits = b.binary("add", &bits, &step);
    let next = b.bitcast(&bits, Ty::DOUBLE);
    let size = float::abs(b, std::slice::from_ref(near));
    let infinity = Value::float(Ty::DOUBLE, 0x7ff0_0000_0000_0000);
    let is_finite = b.compare("fcmp olt", &size, &infinity);
    b.select(&is_finite, &next, near)
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
