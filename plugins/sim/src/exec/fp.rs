//! Pure floating point semantics that Rust's operators do not have: minima with AMD's NaN rules,
//! scaling, splitting, classification, and the pieces of IEEE division.
//!
//! Source: the instruction descriptions of AMD's "Vega" ISA document.

use super::mode::Mode;
use super::scalar_float::Half;

/// Defines minimum and maximum of one float type.
macro_rules! ordered {
    ($float:ty, $min:ident, $max:ident) => {
        /// The larger value; +0 is larger than -0; a NaN loses against a number.
        #[inline(always)]
        pub(crate) fn $max(mode: Mode, a: $float, b: $float) -> $float {
            let both = <$float>::from_bits(a.to_bits() & b.to_bits());
            let larger = if a > b { a } else { b };
            let result = if a == b { both } else { larger };
            let result = if b.is_nan() { a } else { result };
            quieted(mode, a, b, result)
        }

        /// The smaller value; -0 is smaller than +0; a NaN loses against a number.
        #[inline(always)]
        pub(crate) fn $min(mode: Mode, a: $float, b: $float) -> $float {
            let both = <$float>::from_bits(a.to_bits() | b.to_bits());
            let smaller = if a < b { a } else { b };
            let result = if a == b { both } else { smaller };
            let result = if b.is_nan() { a } else { result };
            quieted(mode, a, b, result)
        }
    };
}

/// What min, max and median need to know of a float type.
trait Ieee: Copy {
    fn signalling(self) -> bool;
    fn quiet(self) -> Self;
    fn is(self, other: Self) -> bool;
}

impl Ieee for f32 {
    #[inline(always)]
    fn signalling(self) -> bool {
        self.is_nan() && self.to_bits() & 0x40_0000 == 0
    }
    #[inline(always)]
    fn quiet(self) -> Self {
        Self::from_bits(self.to_bits() | 0x40_0000)
    }
    #[inline(always)]
    fn is(self, other: Self) -> bool {
        self.to_bits() == other.to_bits()
    }
}

impl Ieee for f64 {
    #[inline(always)]
    fn signalling(self) -> bool {
        self.is_nan() && self.to_bits() & 0x8_0000_0000_0000 == 0
    }
    #[inline(always)]
    fn quiet(self) -> Self {
        Self::from_bits(self.to_bits() | 0x8_0000_0000_0000)
    }
    #[inline(always)]
    fn is(self, other: Self) -> bool {
        self.to_bits() == other.to_bits()
    }
}

#[inline(always)]
fn same<T: Ieee>(a: T, b: T) -> bool {
    a.is(b)
}

/// `result`, or the quieted signalling NaN among the operands under IEEE rules.
#[inline(always)]
fn quieted<T: Ieee>(mode: Mode, a: T, b: T, result: T) -> T {
    let result = if mode.ieee() && b.signalling() {
        b.quiet()
    } else {
        result
    };
    if mode.ieee() && a.signalling() {
        a.quiet()
    } else {
        result
    }
}

ordered!(f32, min32, max32);
ordered!(f64, min64, max64);

/// The median of three; the minimum if one is a NaN.
#[inline(always)]
pub(crate) fn median32(mode: Mode, a: f32, b: f32, c: f32) -> f32 {
    let least = min32(mode, min32(mode, a, b), c);
    let most = max32(mode, max32(mode, a, b), c);
    let rest = if same(most, a) {
        max32(mode, b, c)
    } else if same(most, b) {
        max32(mode, a, c)
    } else {
        max32(mode, a, b)
    };
    if a.is_nan() || b.is_nan() || c.is_nan() {
        least
    } else {
        rest
    }
}

impl Half {
    /// This NaN as a quiet one; numbers are unchanged.
    #[inline(always)]
    fn quiet(self) -> Self {
        if self.is_nan() {
            Self(self.0 | 0x200)
        } else {
            self
        }
    }
}

/// The larger half; see [`max32`].
#[inline(always)]
pub(crate) fn max16(mode: Mode, a: Half, b: Half) -> Half {
    Half::nearest(max32(mode, keep_signal(a), keep_signal(b)))
}

/// The smaller half; see [`min32`].
#[inline(always)]
pub(crate) fn min16(mode: Mode, a: Half, b: Half) -> Half {
    Half::nearest(min32(mode, keep_signal(a), keep_signal(b)))
}

/// The median half; see [`median32`].
#[inline(always)]
pub(crate) fn median16(mode: Mode, a: Half, b: Half, c: Half) -> Half {
    Half::nearest(median32(mode, keep_signal(a), keep_signal(b), keep_signal(c)))
}

/// The half in single precision, with a signalling NaN still signalling.
#[inline(always)]
fn keep_signal(value: Half) -> f32 {
    if value.is_nan() {
        f32::from_bits(u32::from(value.0 & 0x8000) << 16 | 0x7f80_0000 | u32::from(value.0 & 0x3ff) << 13)
    } else {
        value.wide()
    }
}

/// Single precision with denormals turned into zero.
#[inline(always)]
pub(crate) fn flush32(value: f32) -> f32 {
    let bits = value.to_bits();
    f32::from_bits(if bits & 0x7f80_0000 == 0 {
        bits & 0x8000_0000
    } else {
        bits
    })
}

/// Two to the power of `n`, for `n` within the exponent range of doubles.
#[inline(always)]
pub(crate) fn exp2i(n: i32) -> f64 {
    f64::from_bits(((n + 1023) as u64) << 52)
}

/// `value * 2^n`, rounded once.
#[inline(always)]
pub(crate) fn ldexp32(value: f32, n: i32) -> f32 {
    // Single precision spans 2^-149 to 2^128; the product is exact in double precision.
    (f64::from(value) * exp2i(n.clamp(-300, 300))) as f32
}

/// `value * 2^n`, rounded once.
#[inline(always)]
pub(crate) fn ldexp64(value: f64, n: i32) -> f64 {
    let n = n.clamp(-2200, 2200);
    // Split so that only the last factor can round: normalise, scale in range, then once more.
    if value == 0.0 || !value.is_finite() {
        // Zeros and infinities stay what they are; a signalling NaN becomes a quiet one.
        return quiet64(value);
    }
    let exponent = frexp_exp64(value);
    let fraction = frexp_mant64(value);
    let target = exponent + n;
    if target > 1024 {
        return fraction * f64::INFINITY;
    }
    if target >= -1021 {
        return fraction * 2.0 * exp2i(target - 1);
    }
    let target = target.max(-1080);
    fraction * exp2i(target + 1000) * exp2i(-1000)
}

/// The exponent that brings the significand into [0.5, 1); zero for 0, infinity and NaN.
#[inline(always)]
pub(crate) fn frexp_exp32(value: f32) -> i32 {
    let bits = f64::from(value).to_bits();
    let field = (bits >> 52 & 0x7ff) as i32;
    if value == 0.0 || !value.is_finite() {
        0
    } else {
        field - 1022
    }
}

/// The significand in [0.5, 1) with the sign of `value`; 0, infinity and NaN unchanged.
#[inline(always)]
pub(crate) fn frexp_mant32(value: f32) -> f32 {
    if value == 0.0 || !value.is_finite() {
        return quiet32(value);
    }
    let bits = f64::from(value).to_bits();
    f64::from_bits(bits & 0x800f_ffff_ffff_ffff | 0x3fe0_0000_0000_0000) as f32
}

/// [`frexp_exp32`] in double precision.
#[inline(always)]
pub(crate) fn frexp_exp64(value: f64) -> i32 {
    if value == 0.0 || !value.is_finite() {
        return 0;
    }
    let (bits, extra) = normal64(value);
    (bits >> 52 & 0x7ff) as i32 - 1022 - extra
}

/// [`frexp_mant32`] in double precision.
#[inline(always)]
pub(crate) fn frexp_mant64(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return quiet64(value);
    }
    let (bits, _) = normal64(value);
    f64::from_bits(bits & 0x800f_ffff_ffff_ffff | 0x3fe0_0000_0000_0000)
}

/// The bits of a finite double as if it were normal, and how far it was scaled up for that.
#[inline(always)]
fn normal64(value: f64) -> (u64, i32) {
    if value.abs() < f64::MIN_POSITIVE {
        ((value * exp2i(54)).to_bits(), 54)
    } else {
        (value.to_bits(), 0)
    }
}

/// A NaN made quiet.
#[inline(always)]
pub(crate) fn quiet32(value: f32) -> f32 {
    if value.is_nan() {
        f32::from_bits(value.to_bits() | 0x40_0000)
    } else {
        value
    }
}

/// A NaN made quiet.
#[inline(always)]
pub(crate) fn quiet64(value: f64) -> f64 {
    if value.is_nan() {
        f64::from_bits(value.to_bits() | 0x8_0000_0000_0000)
    } else {
        value
    }
}

/// `value - floor(value)`, below one even where the subtraction rounds up.
#[inline(always)]
pub(crate) fn fract32(value: f32) -> f32 {
    let fraction = value - value.floor();
    if value.is_infinite() {
        return f32::NAN;
    }
    if fraction >= 1.0 {
        f32::from_bits(0x3f7f_ffff)
    } else {
        fraction
    }
}

/// [`fract32`] in double precision.
#[inline(always)]
pub(crate) fn fract64(value: f64) -> f64 {
    let fraction = value - value.floor();
    if value.is_infinite() {
        return f64::NAN;
    }
    if fraction >= 1.0 {
        f64::from_bits(0x3fef_ffff_ffff_ffff)
    } else {
        fraction
    }
}

/// Which class bit of `v_cmp_class` a number has: signalling NaN 0, quiet NaN 1, then negative
/// infinity, normal, denormal, zero (2 to 5), then the positive ones in reverse (6 to 9).
#[inline(always)]
pub(crate) fn class(bits: u64, mantissa: u32, exponent: u32) -> u32 {
    let negative = bits >> (mantissa + exponent) & 1 != 0;
    let fraction = bits & ((1 << mantissa) - 1);
    let field = bits >> mantissa & ((1 << exponent) - 1);
    let full = (1 << exponent) - 1;
    let magnitude = if field == full {
        0
    } else if field != 0 {
        1
    } else if fraction != 0 {
        2
    } else {
        3
    };
    let class = if negative { 2 + magnitude } else { 9 - magnitude };
    let nan = u32::from(fraction >> (mantissa - 1) & 1 != 0);
    1 << if field == full && fraction != 0 {
        nan
    } else {
        class
    }
}

/// `v_div_scale_f32`: numerator or denominator (`s0`), scaled so that the division steps cannot
/// overflow or lose bits, and whether the result must be scaled back. `s1` is the denominator, `s2` the
/// numerator. The manual scales the denominator up where both its reciprocal and the quotient are
/// denormal; that would overflow, and only down makes the division come out right.
#[inline(always)]
pub(crate) fn div_scale32(s0: f32, s1: f32, s2: f32) -> (f32, bool) {
    let exponent = |value: f32| (value.to_bits() >> 23 & 0xff) as i32;
    let denormal = |value: f32| value.to_bits() & 0x7f80_0000 == 0 && value != 0.0;
    let is_denominator = s0.to_bits() == s1.to_bits();
    let is_numerator = s0.to_bits() == s2.to_bits();
    let up = |value| ldexp32(value, 64);
    let down = |value| ldexp32(value, -64);
    if s2 == 0.0 || s1 == 0.0 {
        return (f32::NAN, false);
    }
    if exponent(s2) - exponent(s1) >= 96 {
        // The quotient may overflow: scale the denominator.
        return (if is_denominator { up(s0) } else { s0 }, true);
    }
    if denormal(s1) {
        return (up(s0), false);
    }
    let reciprocal_denormal = denormal((1.0 / f64::from(s1)) as f32);
    let quotient_denormal = denormal((f64::from(s2) / f64::from(s1)) as f32);
    if reciprocal_denormal && quotient_denormal {
        return (if is_denominator { down(s0) } else { s0 }, true);
    }
    if reciprocal_denormal {
        return (down(s0), false);
    }
    if quotient_denormal {
        return (if is_numerator { up(s0) } else { s0 }, true);
    }
    if exponent(s2) <= 23 {
        return (up(s0), false);
    }
    (s0, false)
}

/// [`div_scale32`] in double precision.
#[inline(always)]
pub(crate) fn div_scale64(s0: f64, s1: f64, s2: f64) -> (f64, bool) {
    let exponent = |value: f64| (value.to_bits() >> 52 & 0x7ff) as i32;
    let denormal = |value: f64| value.to_bits() & 0x7ff0_0000_0000_0000 == 0 && value != 0.0;
    let is_denominator = s0.to_bits() == s1.to_bits();
    let is_numerator = s0.to_bits() == s2.to_bits();
    let up = |value| ldexp64(value, 128);
    let down = |value| ldexp64(value, -128);
    if s2 == 0.0 || s1 == 0.0 {
        return (f64::NAN, false);
    }
    if exponent(s2) - exponent(s1) >= 768 {
        return (if is_denominator { up(s0) } else { s0 }, true);
    }
    if denormal(s1) {
        return (up(s0), false);
    }
    let reciprocal_denormal = denormal(1.0 / s1);
    let quotient_denormal = denormal(s2 / s1);
    if reciprocal_denormal && quotient_denormal {
        return (if is_denominator { down(s0) } else { s0 }, true);
    }
    if reciprocal_denormal {
        return (down(s0), false);
    }
    if quotient_denormal {
        return (if is_numerator { up(s0) } else { s0 }, true);
    }
    if exponent(s2) <= 53 {
        return (up(s0), false);
    }
    (s0, false)
}

/// `v_div_fixup_f32`: the special cases of `s2 / s1`, else the quotient `s0` with the right sign.
#[inline(always)]
pub(crate) fn div_fixup32(s0: f32, s1: f32, s2: f32) -> f32 {
    let negative = (s1.to_bits() ^ s2.to_bits()) & 0x8000_0000;
    let signed = |magnitude: f32| f32::from_bits(magnitude.to_bits() & 0x7fff_ffff | negative);
    let exponent = |value: f32| (value.to_bits() >> 23 & 0xff) as i32;
    if s2.is_nan() {
        quiet32(s2)
    } else if s1.is_nan() {
        quiet32(s1)
    } else if s1 == 0.0 && s2 == 0.0 || s1.is_infinite() && s2.is_infinite() {
        f32::from_bits(0xffc0_0000)
    } else if s1 == 0.0 || s2.is_infinite() {
        signed(f32::INFINITY)
    } else if s1.is_infinite() || s2 == 0.0 || exponent(s2) - exponent(s1) < -150 {
        signed(0.0)
    } else if s0.is_nan() {
        signed(f32::INFINITY)
    } else {
        signed(s0)
    }
}

/// [`div_fixup32`] in double precision.
#[inline(always)]
pub(crate) fn div_fixup64(s0: f64, s1: f64, s2: f64) -> f64 {
    let negative = (s1.to_bits() ^ s2.to_bits()) & (1 << 63);
    let signed = |magnitude: f64| f64::from_bits(magnitude.to_bits() & !(1 << 63) | negative);
    let exponent = |value: f64| (value.to_bits() >> 52 & 0x7ff) as i32;
    if s2.is_nan() {
        quiet64(s2)
    } else if s1.is_nan() {
        quiet64(s1)
    } else if s1 == 0.0 && s2 == 0.0 || s1.is_infinite() && s2.is_infinite() {
        f64::from_bits(0xfff8_0000_0000_0000)
    } else if s1 == 0.0 || s2.is_infinite() {
        signed(f64::INFINITY)
    } else if s1.is_infinite() || s2 == 0.0 || exponent(s2) - exponent(s1) < -1075 {
        signed(0.0)
    } else if s0.is_nan() {
        signed(f64::INFINITY)
    } else {
        signed(s0)
    }
}

/// [`div_fixup32`] in half precision.
#[inline(always)]
pub(crate) fn div_fixup16(s0: Half, s1: Half, s2: Half) -> Half {
    let negative = (s1.0 ^ s2.0) & 0x8000;
    let signed = |magnitude: u16| Half(magnitude & 0x7fff | negative);
    let zero = |value: Half| value.0 & 0x7fff == 0;
    let infinite = |value: Half| value.0 & 0x7fff == 0x7c00;
    if s2.is_nan() {
        s2.quiet()
    } else if s1.is_nan() {
        s1.quiet()
    } else if zero(s1) && zero(s2) || infinite(s1) && infinite(s2) {
        Half(0xfe00)
    } else if zero(s1) || infinite(s2) {
        signed(0x7c00)
    } else if infinite(s1) || zero(s2) {
        signed(0)
    } else {
        signed(s0.0)
    }
}

/// Float to integer: towards zero, NaN is zero, out of range is the nearest bound.
#[inline(always)]
pub(crate) fn to_i32(value: f64) -> i32 {
    value as i32
}

/// See [`to_i32`].
#[inline(always)]
pub(crate) fn to_u32(value: f64) -> u32 {
    value as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    const IEEE: Mode = Mode(0x3f0);

    #[test]
    fn minimum_and_maximum_follow_amds_nan_and_zero_rules() {
        let signalling = f32::from_bits(0x7f80_0001);
        assert_eq!(max32(IEEE, f32::NAN, 2.0), 2.0);
        assert_eq!(min32(IEEE, 2.0, f32::NAN), 2.0);
        assert_eq!(max32(IEEE, signalling, 2.0).to_bits(), 0x7fc0_0001);
        assert_eq!(max32(Mode(0), signalling, 2.0), 2.0);
        assert_eq!(max32(IEEE, -0.0, 0.0).to_bits(), 0);
        assert_eq!(min32(IEEE, 0.0, -0.0).to_bits(), 0x8000_0000);
        assert_eq!(median32(IEEE, 3.0, 1.0, 2.0), 2.0);
        assert_eq!(median32(IEEE, f32::NAN, 1.0, 2.0), 1.0);
        assert_eq!(max64(IEEE, 1.0, f64::NAN), 1.0);
    }

    #[test]
    fn scaling_rounds_once() {
        assert_eq!(ldexp32(1.0, -149).to_bits(), 1);
        assert_eq!(ldexp32(f32::from_bits(1), 149 + 127), 2f32.powi(127));
        assert_eq!(ldexp32(1.5, 128), f32::INFINITY);
        assert_eq!(ldexp64(1.0, -1074).to_bits(), 1);
        assert_eq!(ldexp64(1.0, -1075).to_bits(), 0);
        assert_eq!(ldexp64(1.5, -1075).to_bits(), 1);
        assert_eq!(ldexp64(f64::from_bits(1), 1074 + 1023), 2f64.powi(1023));
        assert_eq!(ldexp64(-1.0, 1024), f64::NEG_INFINITY);
        assert_eq!(ldexp64(f64::INFINITY, -100), f64::INFINITY);
        assert_eq!(ldexp64(f64::NEG_INFINITY, 100), f64::NEG_INFINITY);
        assert_eq!(ldexp64(-0.0, 100).to_bits(), (-0.0f64).to_bits());
        assert!(ldexp64(f64::NAN, 1).is_nan());
        // 0x1.8p0 * 2^-1074 is a tie between 1 and 2 units: to even.
        assert_eq!(ldexp64(1.5, -1074).to_bits(), 2);
        assert_eq!(ldexp64(1.25, -1073).to_bits(), 2);
        assert_eq!(ldexp64(1.0000000000000002, -1075).to_bits(), 1);
    }

    #[test]
    fn splitting_gives_half_open_significands() {
        assert_eq!((frexp_mant32(8.0), frexp_exp32(8.0)), (0.5, 4));
        assert_eq!(frexp_exp32(f32::from_bits(1)), -148);
        assert_eq!((frexp_mant64(-3.0), frexp_exp64(-3.0)), (-0.75, 2));
        assert_eq!(frexp_exp64(f64::from_bits(1)), -1073);
        assert_eq!(frexp_exp32(f32::INFINITY), 0);
        assert_eq!(fract32(-1e-10), 0.99999994);
    }

    #[test]
    fn every_class_has_its_bit() {
        let class32 = |bits: u32| class(bits.into(), 23, 8);
        assert_eq!(class32(0x7f80_0001), 1);
        assert_eq!(class32(0x7fc0_0000), 2);
        assert_eq!(class32(0xff80_0000), 4);
        assert_eq!(class32(0xbf80_0000), 8);
        assert_eq!(class32(0x8000_0001), 0x10);
        assert_eq!(class32(0x8000_0000), 0x20);
        assert_eq!(class32(0), 0x40);
        assert_eq!(class32(1), 0x80);
        assert_eq!(class32(0x3f80_0000), 0x100);
        assert_eq!(class32(0x7f80_0000), 0x200);
    }

    #[test]
    fn division_pieces_handle_special_operands() {
        assert_eq!(div_fixup32(0.0, 0.0, 1.0), f32::INFINITY);
        assert_eq!(div_fixup32(0.0, -0.0, 1.0), f32::NEG_INFINITY);
        assert!(div_fixup32(0.0, 0.0, 0.0).is_nan());
        assert_eq!(div_fixup32(3.0, -2.0, 6.0), -3.0);
        assert_eq!(div_scale32(1.0, 1.0, 3.0), (1.0, false));
        let (scaled, flag) = div_scale32(1e-38, 1e-38, 1e38);
        assert_eq!((scaled, flag), (1e-38 * 2f32.powi(64), true));
        assert_eq!(div_fixup64(1.0, f64::INFINITY, 5.0), 0.0);
    }
}
