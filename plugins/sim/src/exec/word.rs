//! Lane types: how a value of an instruction's operand type sits in register rows.

use super::scalar_float::Half;

/// What a lane type is, for modifiers and denormals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// No operand.
    None,
    /// 16 bits without a float interpretation.
    B16,
    /// 32 bits without a float interpretation.
    B32,
    /// 64 bits without a float interpretation.
    B64,
    /// Half precision.
    F16,
    /// Single precision.
    F32,
    /// Double precision.
    F64,
    /// Two 16-bit integers.
    PkI16,
    /// Two half precision numbers.
    PkF16,
    /// Two single precision numbers.
    PkF32,
}

impl Kind {
    /// Registers that hold a value.
    pub(crate) const fn rows(self) -> usize {
        match self {
            Self::None => 0,
            Self::B64 | Self::F64 | Self::PkF32 => 2,
            _ => 1,
        }
    }

    /// Whether clamping means the range 0 to 1.
    pub(crate) const fn is_float(self) -> bool {
        matches!(
            self,
            Self::F16 | Self::F32 | Self::F64 | Self::PkF16 | Self::PkF32
        )
    }

    /// Whether a value fills only half a register.
    pub(crate) const fn is_half(self) -> bool {
        matches!(self, Self::B16 | Self::F16)
    }
}

/// A lane type.
pub(crate) trait Word: Copy {
    /// What it is.
    const KIND: Kind;
    /// The value in the low and high dword.
    fn pack(low: u32, high: u32) -> Self;
    /// The dwords of the value.
    fn unpack(self) -> (u32, u32);
}

macro_rules! word {
    ($type:ty, $kind:ident, |$low:ident, $high:ident| $pack:expr, |$value:ident| $unpack:expr) => {
        impl Word for $type {
            const KIND: Kind = Kind::$kind;
            #[inline(always)]
            fn pack($low: u32, $high: u32) -> Self {
                $pack
            }
            #[inline(always)]
            fn unpack(self) -> (u32, u32) {
                let $value = self;
                $unpack
            }
        }
    };
}

/// Two 16-bit integers, low first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shorts(pub(crate) u16, pub(crate) u16);

/// Two half precision numbers, low first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Halves(pub(crate) Half, pub(crate) Half);

/// Two single precision numbers, low first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Floats(pub(crate) f32, pub(crate) f32);

word!(
    Shorts,
    PkI16,
    |low, _high| Self(low as u16, (low >> 16) as u16),
    |value| (u32::from(value.0) | u32::from(value.1) << 16, 0)
);
word!(
    Halves,
    PkF16,
    |low, _high| Self(Half(low as u16), Half((low >> 16) as u16)),
    |value| (u32::from(value.0 .0) | u32::from(value.1 .0) << 16, 0)
);
word!(
    Floats,
    PkF32,
    |low, high| Self(f32::from_bits(low), f32::from_bits(high)),
    |value| (value.0.to_bits(), value.1.to_bits())
);
word!((), None, |_low, _high| (), |_value| (0, 0));
word!(u16, B16, |low, _high| low as u16, |value| (u32::from(value), 0));
word!(i16, B16, |low, _high| low as i16, |value| (
    u32::from(value as u16),
    0
));
word!(Half, F16, |low, _high| Half(low as u16), |value| (
    u32::from(value.0),
    0
));
word!(u32, B32, |low, _high| low, |value| (value, 0));
word!(i32, B32, |low, _high| low as i32, |value| (value as u32, 0));
word!(f32, F32, |low, _high| f32::from_bits(low), |value| (
    value.to_bits(),
    0
));
word!(
    u64,
    B64,
    |low, high| u64::from(low) | u64::from(high) << 32,
    |value| (value as u32, (value >> 32) as u32)
);
word!(
    i64,
    B64,
    |low, high| (u64::from(low) | u64::from(high) << 32) as i64,
    |value| (value as u32, (value as u64 >> 32) as u32)
);
word!(
    f64,
    F64,
    |low, high| f64::from_bits(u64::from(low) | u64::from(high) << 32),
    |value| (value.to_bits() as u32, (value.to_bits() >> 32) as u32)
);
