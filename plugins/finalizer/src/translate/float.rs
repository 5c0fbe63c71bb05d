//! Operations on floating-point numbers that take several instructions.

use super::builder::{Builder, Value};
use super::ty::{Scalar, Ty};

/// Bits of a format: those of the fraction, and the pattern of 1.
struct Format {
    fraction: u32,
    one: u64,
}

fn format(ty: Ty) -> Format {
    match ty.scalar {
        Scalar::Half => Format {
            fraction: 10,
            one: 0x3c00,
        },
        Scalar::Float => Format {
            fraction: 23,
            one: 0x3f80_0000,
        },
        Scalar::Double | Scalar::Int(_) => Format {
            fraction: 52,
            one: 0x3ff0_0000_0000_0000,
        },
    }
}

fn sign_mask(ty: Ty) -> i128 {
    1 << (ty.lane_bits() - 1)
}

/// The pattern of infinity, which is all bits of the exponent.
fn infinity(ty: Ty) -> i128 {
    let fraction = format(ty).fraction;
    (1 << (ty.lane_bits() - 1)) - (1 << fraction)
}

fn with_bits(b: &mut Builder, value: &Value, op: &str, mask: i128) -> Value {
    let ty = value.ty;
    let bits = b.bitcast(value, ty.as_int());
    let bits = b.with_constant(op, &bits, mask);
    b.bitcast(&bits, ty)
}

/// Subnormal numbers become zeros of their sign.
pub(super) fn flush(b: &mut Builder, value: &Value) -> Value {
    let ty = value.ty;
    let bits = b.bitcast(value, ty.as_int());
    let exponent = b.with_constant("and", &bits, infinity(ty));
    let is_small = b.compare_constant("icmp eq", &exponent, 0);
    let zero = b.with_constant("and", &bits, sign_mask(ty));
    let bits = b.select(&is_small, &zero, &bits);
    b.bitcast(&bits, ty)
}

pub(super) fn abs(b: &mut Builder, s: &[Value]) -> Value {
    with_bits(b, &s[0], "and", sign_mask(s[0].ty) - 1)
}

pub(super) fn negate(b: &mut Builder, s: &[Value]) -> Value {
    with_bits(b, &s[0], "xor", sign_mask(s[0].ty))
}

pub(super) fn copysign(b: &mut Builder, s: &[Value]) -> Value {
    let ty = s[0].ty;
    let [size, sign] = [0, 1].map(|index| b.bitcast(&s[index], ty.as_int()));
    let size = b.with_constant("and", &size, sign_mask(ty) - 1);
    let sign = b.with_constant("and", &sign, sign_mask(ty));
    let bits = b.binary("or", &size, &sign);
    b.bitcast(&bits, ty)
}

/// A number with its sign changed where another is negative.
pub(super) fn copysign_product(b: &mut Builder, value: &Value, sign: &Value) -> Value {
    let ty = value.ty;
    let [value, sign] = [value, sign].map(|one| b.bitcast(one, ty.as_int()));
    let sign = b.with_constant("and", &sign, sign_mask(ty));
    let bits = b.binary("xor", &value, &sign);
    b.bitcast(&bits, ty)
}

/// Rounded twice; all of an agent's `mad` are (PRM 5.12).
pub(super) fn multiply_add(b: &mut Builder, s: &[Value]) -> Value {
    let product = b.binary("fmul", &s[0], &s[1]);
    b.binary("fadd", &product, &s[2])
}

/// Correctly rounded: a quotient of half precision is that of single precision, rounded.
pub(super) fn divide(b: &mut Builder, s: &[Value]) -> Value {
    let ty = s[0].ty;
    if ty.scalar != Scalar::Half {
        return b.binary("fdiv", &s[0], &s[1]);
    }
    let wide = ty.with_scalar(Scalar::Float);
    let [x, y] = [0, 1].map(|index| b.cast("fpext", &s[index], wide));
    let quotient = b.binary("fdiv", &x, &y);
    b.cast("fptrunc", &quotient, ty)
}

/// Whether a number is a signaling NaN: one whose highest bit of the fraction is not set.
fn is_signaling(b: &mut Builder, value: &Value) -> Value {
    let quiet = 1i128 << (format(value.ty).fraction - 1);
    let is_nan = b.compare("fcmp uno", value, value);
    let bits = b.bitcast(value, value.ty.as_int());
    let bit = b.with_constant("and", &bits, quiet);
    let is_clear = b.compare_constant("icmp eq", &bit, 0);
    b.binary("and", &is_nan, &is_clear)
}

/// The number where there is one; with a signaling NaN a NaN (PRM 4.19.4), which a sum of both is.
fn extreme(b: &mut Builder, name: &str, s: &[Value]) -> Value {
    let value = b.overloaded(name, &[&s[0], &s[1]]);
    let sum = b.binary("fadd", &s[0], &s[1]);
    let [x, y] = [0, 1].map(|index| is_signaling(b, &s[index]));
    let signaling = b.binary("or", &x, &y);
    b.select(&signaling, &sum, &value)
}

pub(super) fn maximum(b: &mut Builder, s: &[Value]) -> Value {
    extreme(b, "llvm.maxnum", s)
}

pub(super) fn minimum(b: &mut Builder, s: &[Value]) -> Value {
    extreme(b, "llvm.minnum", s)
}

/// What is above the next smaller integer, below 1 even where the difference rounds to it; zeros and infinities give
/// zeros of their sign.
pub(super) fn fract(b: &mut Builder, s: &[Value]) -> Value {
    let ty = s[0].ty;
    let floor = b.overloaded("llvm.floor", &[&s[0]]);
    let rest = b.binary("fsub", &s[0], &floor);
    let below_one = Value::float(ty, format(ty).one - 1);
    let is_one = b.compare("fcmp oge", &rest, &below_one);
    let rest = b.select(&is_one, &below_one, &rest);
    let bits = b.bitcast(&s[0], ty.as_int());
    let size = b.with_constant("and", &bits, sign_mask(ty) - 1);
    let is_zero = b.compare_constant("icmp eq", &size, 0);
    let is_infinite = b.compare_constant("icmp eq", &size, infinity(ty));
    let is_special = b.binary("or", &is_zero, &is_infinite);
    let zero = with_bits(b, &s[0], "and", sign_mask(ty));
    b.select(&is_special, &zero, &rest)
}

/// Correctly rounded: by a function for double precision, whose results rounded again are right for the others.
pub(super) fn root(b: &mut Builder, s: &[Value]) -> Value {
    let ty = s[0].ty;
    if ty.is_vector() {
        return b.by_lane(ty, |b, lane| {
            let value = b.lane(&s[0], lane);
            root(b, &[value])
        });
    }
    let wide = b.cast("fpext", &s[0], Ty::DOUBLE);
    let wide = root_double(b, &wide);
    if ty == Ty::HALF {
        let single = b.cast("fptrunc", &wide, Ty::FLOAT);
        return b.cast("fptrunc", &single, ty);
    }
    b.cast("fptrunc", &wide, ty)
}

/// The root of a number of double precision.
pub(super) fn root_double(b: &mut Builder, value: &Value) -> Value {
    b.helpers.insert("hansa.sqrt");
    b.value(
        Ty::DOUBLE,
        format_args!("call double @hansa.sqrt(double {value})"),
    )
}
