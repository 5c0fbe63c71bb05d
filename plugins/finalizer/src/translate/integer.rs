//! Operations on integers that take several instructions.

use super::builder::{Builder, Value};
use super::ty::Ty;

/// 1 if an addition carries.
pub(super) fn carry(b: &mut Builder, s: &[Value]) -> Value {
    let sum = b.binary("add", &s[0], &s[1]);
    let carries = b.compare("icmp ult", &sum, &s[0]);
    b.resize(&carries, s[0].ty, false)
}

/// 1 if a subtraction borrows.
pub(super) fn borrow(b: &mut Builder, s: &[Value]) -> Value {
    let borrows = b.compare("icmp ult", &s[0], &s[1]);
    b.resize(&borrows, s[0].ty, false)
}

pub(super) fn negate(b: &mut Builder, s: &[Value]) -> Value {
    let zero = Value::int(s[0].ty, 0);
    b.binary("sub", &zero, &s[0])
}

pub(super) fn not(b: &mut Builder, s: &[Value]) -> Value {
    b.with_constant("xor", &s[0], -1)
}

pub(super) fn multiply_add(b: &mut Builder, s: &[Value]) -> Value {
    let product = b.binary("mul", &s[0], &s[1]);
    b.binary("add", &product, &s[2])
}

/// The divisor, or 1 where the quotient is undefined: what IR leaves undefined there is more than a value.
fn divisor(b: &mut Builder, s: &[Value], signed: bool) -> Value {
    let ty = s[1].ty;
    let mut bad = b.compare_constant("icmp eq", &s[1], 0);
    if signed {
        let least = -1i128 << (ty.lane_bits() - 1);
        let is_least = b.compare_constant("icmp eq", &s[0], least);
        let is_minus_one = b.compare_constant("icmp eq", &s[1], -1);
        let overflows = b.binary("and", &is_least, &is_minus_one);
        bad = b.binary("or", &bad, &overflows);
    }
    let one = Value::int(ty, 1);
    b.select(&bad, &one, &s[1])
}

pub(super) fn divide(b: &mut Builder, s: &[Value]) -> Value {
    let by = divisor(b, s, false);
    b.binary("udiv", &s[0], &by)
}

pub(super) fn divide_signed(b: &mut Builder, s: &[Value]) -> Value {
    let by = divisor(b, s, true);
    b.binary("sdiv", &s[0], &by)
}

pub(super) fn remainder(b: &mut Builder, s: &[Value]) -> Value {
    let by = divisor(b, s, false);
    b.binary("urem", &s[0], &by)
}

/// The remainder of the least number by -1 is 0 (PRM 5.2.2), as it is by 1.
pub(super) fn remainder_signed(b: &mut Builder, s: &[Value]) -> Value {
    let by = divisor(b, s, true);
    b.binary("srem", &s[0], &by)
}

/// The whole product, in lanes of twice the size.
fn product(b: &mut Builder, s: &[Value], signed: bool) -> Value {
    let wide = s[0].ty.with_int(2 * s[0].ty.lane_bits());
    let [x, y] = [0, 1].map(|index| b.resize(&s[index], wide, signed));
    b.binary("mul", &x, &y)
}

fn high(b: &mut Builder, s: &[Value], signed: bool) -> Value {
    let product = product(b, s, signed);
    let high = b.with_constant("lshr", &product, s[0].ty.lane_bits());
    b.resize(&high, s[0].ty, false)
}

pub(super) fn multiply_high(b: &mut Builder, s: &[Value]) -> Value {
    high(b, s, false)
}

pub(super) fn multiply_high_signed(b: &mut Builder, s: &[Value]) -> Value {
    high(b, s, true)
}

pub(super) fn multiply_saturated(b: &mut Builder, s: &[Value]) -> Value {
    let product = product(b, s, false);
    let most = Value::int(product.ty, (1i128 << s[0].ty.lane_bits()) - 1);
    let product = b.overloaded("llvm.umin", &[&product, &most]);
    b.resize(&product, s[0].ty, false)
}

pub(super) fn multiply_saturated_signed(b: &mut Builder, s: &[Value]) -> Value {
    let product = product(b, s, true);
    let half = 1i128 << (s[0].ty.lane_bits() - 1);
    let (least, most) = (Value::int(product.ty, -half), Value::int(product.ty, half - 1));
    let product = b.overloaded("llvm.smin", &[&product, &most]);
    let product = b.overloaded("llvm.smax", &[&product, &least]);
    b.resize(&product, s[0].ty, true)
}

/// The product of the low 24 bits of two sources, in 64 bits.
fn product24(b: &mut Builder, s: &[Value], signed: bool) -> Value {
    let shift = if signed { "ashr" } else { "lshr" };
    let [x, y] = [0, 1].map(|index| {
        let high = b.with_constant("shl", &s[index], 8);
        let value = b.with_constant(shift, &high, 8);
        b.resize(&value, Ty::I64, signed)
    });
    b.binary("mul", &x, &y)
}

fn low24(b: &mut Builder, s: &[Value], signed: bool) -> Value {
    let product = product24(b, s, signed);
    b.resize(&product, Ty::I32, false)
}

/// Bits 32 to 47 of the product.
fn high24(b: &mut Builder, s: &[Value], signed: bool) -> Value {
    let product = product24(b, s, signed);
    let high = b.with_constant(if signed { "ashr" } else { "lshr" }, &product, 32);
    b.resize(&high, Ty::I32, false)
}

pub(super) fn mul24(b: &mut Builder, s: &[Value]) -> Value {
    low24(b, s, false)
}

pub(super) fn mul24_signed(b: &mut Builder, s: &[Value]) -> Value {
    low24(b, s, true)
}

pub(super) fn mul24_high(b: &mut Builder, s: &[Value]) -> Value {
    high24(b, s, false)
}

pub(super) fn mul24_high_signed(b: &mut Builder, s: &[Value]) -> Value {
    high24(b, s, true)
}

pub(super) fn mad24(b: &mut Builder, s: &[Value]) -> Value {
    let product = low24(b, s, false);
    b.binary("add", &product, &s[2])
}

pub(super) fn mad24_signed(b: &mut Builder, s: &[Value]) -> Value {
    let product = low24(b, s, true);
    b.binary("add", &product, &s[2])
}

pub(super) fn mad24_high(b: &mut Builder, s: &[Value]) -> Value {
    let product = high24(b, s, false);
    b.binary("add", &product, &s[2])
}

pub(super) fn mad24_high_signed(b: &mut Builder, s: &[Value]) -> Value {
    let product = high24(b, s, true);
    b.binary("add", &product, &s[2])
}

/// Bits of the second source where the first has ones, else of the third.
pub(super) fn bit_select(b: &mut Builder, s: &[Value]) -> Value {
    let yes = b.binary("and", &s[1], &s[0]);
    let mask = not(b, &s[..1]);
    let no = b.binary("and", &s[2], &mask);
    b.binary("or", &yes, &no)
}

/// 32 of the 64 bits of the second source above the first, from a bit on.
pub(super) fn bit_align(b: &mut Builder, s: &[Value]) -> Value {
    b.overloaded("llvm.fshr", &[&s[1], &s[0], &s[2]])
}

/// The same from a byte on.
pub(super) fn byte_align(b: &mut Builder, s: &[Value]) -> Value {
    let bits = b.with_constant("shl", &s[2], 3);
    let bits = b.with_constant("and", &bits, 24);
    b.overloaded("llvm.fshr", &[&s[1], &s[0], &bits])
}

/// The mean of bytes, rounded up where the third source is odd.
pub(super) fn lerp(b: &mut Builder, s: &[Value]) -> Value {
    let wide = s[0].ty.with_int(16);
    let [x, y, z] = [0, 1, 2].map(|index| b.resize(&s[index], wide, false));
    let up = b.with_constant("and", &z, 1);
    let sum = b.binary("add", &x, &y);
    let sum = b.binary("add", &sum, &up);
    let mean = b.with_constant("lshr", &sum, 1);
    b.resize(&mean, s[0].ty, false)
}
