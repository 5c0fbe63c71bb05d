//! Floating point on single values where the host's own arithmetic is not enough: half precision,
//! the three rounding modes that are not to-nearest, fused multiply-add without an instruction for
//! it. Everything here is exact integer arithmetic followed by one rounding.

/// A rounding mode of the MODE register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Round {
    /// To the nearest, ties to even.
    Nearest,
    /// Towards positive infinity.
    Up,
    /// Towards negative infinity.
    Down,
    /// Towards zero.
    Zero,
}

impl Round {
    /// The mode that the low two bits name.
    #[inline(always)]
    pub(crate) fn from_bits(bits: u32) -> Self {
        match bits & 3 {
            0 => Self::Nearest,
            1 => Self::Up,
            2 => Self::Down,
            _ => Self::Zero,
        }
    }
}

/// A binary interchange format.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Format {
    /// Stored significand bits.
    mantissa: u32,
    /// Exponent bits.
    exponent: u32,
}

/// Half precision.
pub(crate) const F16: Format = Format {
    mantissa: 10,
    exponent: 5,
};
/// Single precision.
pub(crate) const F32: Format = Format {
    mantissa: 23,
    exponent: 8,
};
/// Double precision.
pub(crate) const F64: Format = Format {
    mantissa: 52,
    exponent: 11,
};

/// A finite number: sign, significand, and the exponent of the significand's lowest bit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Exact {
    /// Whether the sign bit is set.
    pub(crate) negative: bool,
    /// The magnitude, zero included.
    pub(crate) significand: u128,
    /// Weight of the lowest bit is two to this.
    pub(crate) exponent: i32,
}

impl Format {
    const fn bias(self) -> i32 {
        (1 << (self.exponent - 1)) - 1
    }

    const fn exponent_mask(self) -> u64 {
        (1 << self.exponent) - 1
    }

    const fn sign_bit(self) -> u64 {
        1 << (self.mantissa + self.exponent)
    }

    /// The bits of positive infinity.
    const fn infinity(self) -> u64 {
        self.exponent_mask() << self.mantissa
    }

    /// Whether `bits` is neither infinite nor NaN.
    pub(crate) const fn is_finite(self, bits: u64) -> bool {
        bits & self.infinity() != self.infinity()
    }

    /// The value of finite `bits`.
    pub(crate) const fn exact(self, bits: u64) -> Exact {
        let field = (bits >> self.mantissa & self.exponent_mask()) as i32;
        let fraction = bits & ((1 << self.mantissa) - 1);
        let (significand, biased) = if field == 0 {
            (fraction, 1)
        } else {
            (fraction | 1 << self.mantissa, field)
        };
        Exact {
            negative: bits & self.sign_bit() != 0,
            significand: significand as u128,
            exponent: biased - self.bias() - self.mantissa as i32,
        }
    }

    /// The number of this format that `value` rounds to. Bit 0 of the significand may stand for any
    /// non-zero remainder below it as long as at least two bits lie below the rounded position.
    pub(crate) const fn round(self, value: Exact, round: Round) -> u64 {
        let sign = if value.negative { self.sign_bit() } else { 0 };
        if value.significand == 0 {
            return sign;
        }
        let top = 127 - value.significand.leading_zeros() as i32;
        let lowest = 1 - self.bias() - self.mantissa as i32;
        let mut ulp = value.exponent + top - self.mantissa as i32;
        if ulp < lowest {
            ulp = lowest;
        }
        let shift = ulp - value.exponent;
        let (kept, inexact, half) = if shift <= 0 {
            ((value.significand << -shift) as u64, false, false)
        } else if shift > 127 {
            (0, true, false)
        } else {
            let rest = value.significand & ((1 << shift) - 1);
            let middle = 1u128 << (shift - 1);
            let kept = (value.significand >> shift) as u64;
            (kept, rest != 0, rest > middle || rest == middle && kept & 1 != 0)
        };
        let up = match round {
            Round::Nearest => half,
            Round::Up => inexact && !value.negative,
            Round::Down => inexact && value.negative,
            Round::Zero => false,
        };
        let kept = kept + up as u64;
        // A carry out of the significand moves into the exponent field by itself.
        let field = (ulp - lowest) as u64;
        let bits = if kept >> self.mantissa == 0 {
            kept
        } else {
            (field << self.mantissa) + kept
        };
        if bits < self.infinity() {
            return sign | bits;
        }
        let to_largest = match round {
            Round::Nearest => false,
            Round::Up => value.negative,
            Round::Down => !value.negative,
            Round::Zero => true,
        };
        sign | (self.infinity() - to_largest as u64)
    }

    /// `a * b + c` with one rounding, for finite operands.
    pub(crate) const fn fused(self, a: u64, b: u64, c: u64, round: Round) -> u64 {
        self.fused_scaled(a, b, c, 0, round)
    }

    /// `(a * b + c) * 2^scale` with one rounding, for finite operands.
    pub(crate) const fn fused_scaled(self, a: u64, b: u64, c: u64, scale: i32, round: Round) -> u64 {
        let (a, b, c) = (self.exact(a), self.exact(b), self.exact(c));
        let product = Exact {
            negative: a.negative != b.negative,
            significand: a.significand * b.significand,
            exponent: a.exponent + b.exponent,
        };
        let exact = sum(product, c, round);
        let scaled = Exact {
            exponent: exact.exponent + scale,
            ..exact
        };
        self.round(scaled, round)
    }
}

/// `a + b`, exact up to a sticky bit far below the result.
pub(crate) const fn sum(a: Exact, b: Exact, round: Round) -> Exact {
    if a.significand == 0 && b.significand == 0 {
        let negative = if a.negative == b.negative {
            a.negative
        } else {
            matches!(round, Round::Down)
        };
        return Exact { negative, ..a };
    }
    if a.significand == 0 {
        return b;
    }
    if b.significand == 0 {
        return a;
    }
    // Both leading bits at 124: room for a carry above, at least 18 zero bits below a product.
    let (a, b) = (normalised(a), normalised(b));
    let (large, small) = if a.exponent >= b.exponent { (a, b) } else { (b, a) };
    let distance = large.exponent - small.exponent;
    let aligned = if distance > 126 {
        1
    } else {
        let lost = small.significand & ((1 << distance) - 1) != 0;
        small.significand >> distance | lost as u128
    };
    if large.negative == small.negative {
        return Exact {
            significand: large.significand + aligned,
            ..large
        };
    }
    if large.significand == aligned {
        return Exact {
            negative: matches!(round, Round::Down),
            significand: 0,
            exponent: large.exponent,
        };
    }
    if large.significand > aligned {
        Exact {
            significand: large.significand - aligned,
            ..large
        }
    } else {
        Exact {
            negative: small.negative,
            significand: aligned - large.significand,
            exponent: large.exponent,
        }
    }
}

const fn normalised(value: Exact) -> Exact {
    let shift = value.significand.leading_zeros() as i32 - 3;
    Exact {
        negative: value.negative,
        significand: value.significand << shift,
        exponent: value.exponent - shift,
    }
}

/// `a * b + c` in single precision, rounded as told.
pub(crate) fn fma32(a: f32, b: f32, c: f32, round: Round) -> f32 {
    if round == Round::Nearest || !(a.is_finite() && b.is_finite() && c.is_finite()) {
        return fma32_nearest(a, b, c);
    }
    let bits = F32.fused(a.to_bits().into(), b.to_bits().into(), c.to_bits().into(), round);
    f32::from_bits(bits as u32)
}

/// `a * b + c` in double precision, rounded as told.
pub(crate) fn fma64(a: f64, b: f64, c: f64, round: Round) -> f64 {
    if round == Round::Nearest || !(a.is_finite() && b.is_finite() && c.is_finite()) {
        return a.mul_add(b, c);
    }
    f64::from_bits(F64.fused(a.to_bits(), b.to_bits(), c.to_bits(), round))
}

/// `a + b` in single precision, rounded as told.
pub(crate) fn add32(a: f32, b: f32, round: Round) -> f32 {
    if a.is_finite() && b.is_finite() {
        fma32(a, 1.0, b, round)
    } else {
        a + b
    }
}

/// `a * b` in single precision, rounded as told.
pub(crate) fn mul32(a: f32, b: f32, round: Round) -> f32 {
    if !(a.is_finite() && b.is_finite()) {
        return a * b;
    }
    let (a, b) = (F32.exact(a.to_bits().into()), F32.exact(b.to_bits().into()));
    f32::from_bits(F32.round(product(a, b), round) as u32)
}

/// `a + b` in double precision, rounded as told.
pub(crate) fn add64(a: f64, b: f64, round: Round) -> f64 {
    if a.is_finite() && b.is_finite() {
        fma64(a, 1.0, b, round)
    } else {
        a + b
    }
}

/// `a * b` in double precision, rounded as told.
pub(crate) fn mul64(a: f64, b: f64, round: Round) -> f64 {
    if !(a.is_finite() && b.is_finite()) {
        return a * b;
    }
    f64::from_bits(F64.round(product(F64.exact(a.to_bits()), F64.exact(b.to_bits())), round))
}

fn product(a: Exact, b: Exact) -> Exact {
    Exact {
        negative: a.negative != b.negative,
        significand: a.significand * b.significand,
        exponent: a.exponent + b.exponent,
    }
}

/// `value` in single precision, rounded as told.
pub(crate) fn narrow64(value: f64, round: Round) -> f32 {
    if round == Round::Nearest || !value.is_finite() {
        return value as f32;
    }
    f32::from_bits(F32.round(F64.exact(value.to_bits()), round) as u32)
}

/// An integer in single precision, rounded as told.
pub(crate) fn from_integer32(value: i64, round: Round) -> f32 {
    f32::from_bits(F32.round(integer(value), round) as u32)
}

fn integer(value: i64) -> Exact {
    Exact {
        negative: value < 0,
        significand: value.unsigned_abs().into(),
        exponent: 0,
    }
}

/// Correctly rounded single precision fused multiply-add without a host instruction for it: the
/// product is exact in double precision, the sum is rounded to odd there, and the last rounding is
/// then the only one.
#[inline(always)]
pub(crate) fn fma32_nearest(a: f32, b: f32, c: f32) -> f32 {
    let product = f64::from(a) * f64::from(b);
    let addend = f64::from(c);
    let sum = product + addend;
    // What the addition lost, exactly (Knuth). NaN when something is not finite.
    let back = sum - product;
    let lost = (product - (sum - back)) + (addend - back);
    let bits = sum.to_bits();
    let inexact = lost != 0.0 && lost.is_finite() && bits & 1 == 0;
    // The odd neighbour on the side of the lost part.
    let towards = if (lost > 0.0) == (sum > 0.0) { 1i64 } else { -1 };
    let step = if inexact { towards } else { 0 };
    f64::from_bits(bits.wrapping_add(step as u64)) as f32
}

/// A half precision number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Half(pub(crate) u16);

impl Half {
    /// The number in single precision, exactly.
    #[inline(always)]
    pub(crate) fn wide(self) -> f32 {
        let bits = u32::from(self.0);
        let magnitude = (bits & 0x7fff) << 13;
        // Multiplication by 2^112 moves the exponent and normalises denormals.
        let scaled = (f32::from_bits(magnitude) * f32::from_bits(0x7780_0000)).to_bits();
        let special = if magnitude >= 0x0f80_0000 {
            0x7f80_0000 | magnitude
        } else {
            scaled
        };
        f32::from_bits(special | (bits & 0x8000) << 16)
    }

    /// The half precision number nearest to `value`, ties to even.
    #[inline(always)]
    pub(crate) fn nearest(value: f32) -> Self {
        let bits = value.to_bits();
        let sign = bits >> 16 & 0x8000;
        let magnitude = bits & 0x7fff_ffff;
        // Below 2^-14 the spacing is 2^-24: adding 0.5 leaves the result in the low bits.
        let denormal = (f32::from_bits(magnitude) + 0.5)
            .to_bits()
            .wrapping_sub(0x3f00_0000);
        let normal = magnitude
            .wrapping_sub(0x3800_0000)
            .wrapping_add(0xfff + (magnitude >> 13 & 1))
            >> 13;
        let nan = 0x7e00 | magnitude >> 13 & 0x3ff;
        let finite = if magnitude < 0x3880_0000 { denormal } else { normal };
        let finite = if magnitude >= 0x4780_0000 { 0x7c00 } else { finite };
        let result = if magnitude > 0x7f80_0000 { nan } else { finite };
        Self((sign | result) as u16)
    }

    /// `value` rounded as told; with `finite`, overflow gives the largest number.
    pub(crate) fn rounded(value: f32, round: Round, finite: bool) -> Self {
        let result = if round == Round::Nearest || !value.is_finite() {
            Self::nearest(value)
        } else {
            Self(F16.round(F32.exact(value.to_bits().into()), round) as u16)
        };
        result.bounded(value.is_finite(), finite)
    }

    /// Exactly `a * b + c`, rounded as told.
    pub(crate) fn fused(a: Self, b: Self, c: Self, round: Round, finite: bool) -> Self {
        let all = [a, b, c].iter().all(|h| F16.is_finite(h.0.into()));
        if !all {
            return Self::nearest(a.wide() * b.wide() + c.wide());
        }
        Self(F16.fused(a.0.into(), b.0.into(), c.0.into(), round) as u16).bounded(true, finite)
    }

    /// `a * b`, rounded as told.
    pub(crate) fn product(a: Self, b: Self, round: Round, finite: bool) -> Self {
        let (wide, operands) = (a.wide() * b.wide(), a.wide().is_finite() && b.wide().is_finite());
        // A product of halves is exact in single precision.
        Self::rounded(wide, round, finite && operands)
    }

    /// `a * b + c` with two roundings as told.
    pub(crate) fn mad(a: Self, b: Self, c: Self, round: Round, finite: bool) -> Self {
        Self::fused(Self::product(a, b, round, finite), Self(0x3c00), c, round, finite)
    }

    /// A double rounded as told.
    pub(crate) fn rounded64(value: f64, round: Round, finite: bool) -> Self {
        if !value.is_finite() {
            return Self::nearest(value as f32);
        }
        Self(F16.round(F64.exact(value.to_bits()), round) as u16).bounded(true, finite)
    }

    /// Takes an infinity that came from finite operands back to the largest number.
    fn bounded(self, from_finite: bool, finite: bool) -> Self {
        if finite && from_finite && self.0 & 0x7fff == 0x7c00 {
            Self(self.0 - 1)
        } else {
            self
        }
    }

    /// Whether this is a NaN.
    #[inline(always)]
    pub(crate) fn is_nan(self) -> bool {
        self.0 & 0x7fff > 0x7c00
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A simple generator for test inputs that covers special exponents often.
    struct Bits(u64);

    impl Bits {
        fn next(&mut self) -> u64 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            self.0
        }

        fn float(&mut self) -> f32 {
            let bits = self.next();
            let exponent = match bits >> 60 {
                0 => 0,
                1 => 1,
                2..=9 => 120 + (bits >> 50 & 15),
                10 => 255,
                _ => bits >> 40 & 255,
            };
            f32::from_bits((bits as u32 & 0x807f_ffff) | (exponent as u32) << 23)
        }
    }

    #[test]
    fn portable_fused_multiply_add_equals_the_librarys() {
        let mut bits = Bits(88_172_645_463_325_252);
        for _ in 0..200_000 {
            let (a, b, c) = (bits.float(), bits.float(), bits.float());
            let (ours, theirs) = (fma32_nearest(a, b, c), a.mul_add(b, c));
            assert!(
                ours.to_bits() == theirs.to_bits() || ours.is_nan() && theirs.is_nan(),
                "{a:e} * {b:e} + {c:e}: {ours:e}, not {theirs:e}"
            );
        }
    }

    #[test]
    fn the_exact_path_rounds_to_nearest_like_the_host() {
        let mut bits = Bits(0x1234_5678_9abc_def1);
        for _ in 0..200_000 {
            let (a, b, c) = (bits.float(), bits.float(), bits.float());
            if !(a.is_finite() && b.is_finite() && c.is_finite()) {
                continue;
            }
            let ours = F32.fused(
                a.to_bits().into(),
                b.to_bits().into(),
                c.to_bits().into(),
                Round::Nearest,
            );
            assert_eq!(ours as u32, a.mul_add(b, c).to_bits(), "{a:e} * {b:e} + {c:e}");
            let wide = f64::from_bits(bits.next());
            if wide.is_finite() {
                let narrow = F32.round(F64.exact(wide.to_bits()), Round::Nearest) as u32;
                assert_eq!(narrow, (wide as f32).to_bits(), "{wide:e}");
            }
        }
    }

    #[test]
    fn directed_rounding_brackets_the_exact_value() {
        let third = 1.0f64 / 3.0;
        assert_eq!(narrow64(third, Round::Down).to_bits(), 0x3eaa_aaaa);
        assert_eq!(narrow64(third, Round::Up).to_bits(), 0x3eaa_aaab);
        assert_eq!(narrow64(-third, Round::Down).to_bits(), 0xbeaa_aaab);
        assert_eq!(narrow64(-third, Round::Zero).to_bits(), 0xbeaa_aaaa);
        assert_eq!(narrow64(1e300, Round::Zero), f32::MAX);
        assert_eq!(narrow64(1e300, Round::Up), f32::INFINITY);
        assert_eq!(narrow64(1e-300, Round::Up).to_bits(), 1);
        assert_eq!(add32(1.0, -1.0, Round::Down).to_bits(), 0x8000_0000);
        assert_eq!(add32(1.0, f32::from_bits(1), Round::Up).to_bits(), 0x3f80_0001);
        assert_eq!(mul32(f32::MAX, 2.0, Round::Down), f32::MAX);
        assert_eq!(from_integer32(0x7fff_ffff, Round::Zero), 2_147_483_500.0);
    }

    #[test]
    fn half_precision_round_trips_and_rounds() {
        for bits in 0..=u16::MAX {
            let half = Half(bits);
            let back = Half::nearest(half.wide());
            if half.is_nan() {
                assert!(half.wide().is_nan() && back.is_nan());
            } else {
                assert_eq!(back, half);
                assert_eq!(
                    u64::from(bits),
                    F16.round(F32.exact(half.wide().to_bits().into()), Round::Nearest)
                );
            }
            if bits & 0x7fff == 0x7c00 {
                break;
            }
        }
        assert_eq!(Half::nearest(65520.0), Half(0x7c00));
        assert_eq!(Half::nearest(65519.0), Half(0x7bff));
        assert_eq!(Half::nearest(2f32.powi(-25)), Half(0));
        assert_eq!(Half::nearest(2f32.powi(-25) * 1.5), Half(1));
        assert_eq!(Half::rounded(1e6, Round::Nearest, true), Half(0x7bff));
        assert_eq!(Half::rounded(1.000_1, Round::Up, false), Half(0x3c01));
    }

    #[test]
    fn nearest_half_equals_exact_rounding() {
        let mut bits = Bits(77);
        for _ in 0..300_000 {
            let value = bits.float();
            if value.is_finite() {
                let expected = F16.round(F32.exact(value.to_bits().into()), Round::Nearest) as u16;
                assert_eq!(Half::nearest(value).0, expected, "{value:e}");
            }
        }
    }
}
