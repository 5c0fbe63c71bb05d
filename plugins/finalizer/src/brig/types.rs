//! Types of values.

use super::values::values;

values! {
    /// Type of a value, or of the lanes of a packed one.
    Base: u8 {
        NONE = 0 => "none",
        U8 = 1 => "u8",
        U16 = 2 => "u16",
        U32 = 3 => "u32",
        U64 = 4 => "u64",
        S8 = 5 => "s8",
        S16 = 6 => "s16",
        S32 = 7 => "s32",
        S64 = 8 => "s64",
        F16 = 9 => "f16",
        F32 = 10 => "f32",
        F64 = 11 => "f64",
        B1 = 12 => "b1",
        B8 = 13 => "b8",
        B16 = 14 => "b16",
        B32 = 15 => "b32",
        B64 = 16 => "b64",
        B128 = 17 => "b128",
        SAMPLER = 18 => "samp",
        ROIMG = 19 => "roimg",
        WOIMG = 20 => "woimg",
        RWIMG = 21 => "rwimg",
        SIG32 = 22 => "sig32",
        SIG64 = 23 => "sig64",
    }
}

impl Base {
    /// Its size in bits: 64 for the handles of images, samplers and signals, 0 for none.
    #[must_use]
    pub const fn bits(self) -> u32 {
        match self {
            Self::B1 => 1,
            Self::U8 | Self::S8 | Self::B8 => 8,
            Self::U16 | Self::S16 | Self::F16 | Self::B16 => 16,
            Self::U32 | Self::S32 | Self::F32 | Self::B32 => 32,
            Self::U64 | Self::S64 | Self::F64 | Self::B64 => 64,
            Self::SAMPLER | Self::ROIMG | Self::WOIMG | Self::RWIMG | Self::SIG32 | Self::SIG64 => 64,
            Self::B128 => 128,
            _ => 0,
        }
    }
}

/// A type: bits 0 to 4 the base, 5 and 6 the size of a packed value, 7 whether it is an array.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Type(pub u16);

/// Declares the types that are neither packed nor arrays.
macro_rules! plain {
    ($($Name:ident),*) => {
        $(
            #[doc = concat!("[`Base::", stringify!($Name), "`].")]
            pub const $Name: Self = Self::of(Base::$Name);
        )*
    };
}

impl Type {
    plain!(NONE, U8, U16, U32, U64, S8, S16, S32, S64, F16, F32, F64, B1, B8, B16, B32, B64, B128);
    plain!(SAMPLER, ROIMG, WOIMG, RWIMG, SIG32, SIG64);

    const ARRAY: u16 = 1 << 7;

    /// A type that is neither packed nor an array.
    #[must_use]
    pub const fn of(base: Base) -> Self {
        Self(base.0 as u16)
    }

    /// The base: of a packed type, that of a lane.
    #[must_use]
    pub const fn base(self) -> Base {
        Base((self.0 & 0x1f) as u8)
    }

    /// The size of a packed type in bits: 32, 64 or 128; `None` unless it is packed.
    #[must_use]
    pub const fn packed_bits(self) -> Option<u32> {
        match self.0 >> 5 & 3 {
            0 => None,
            n => Some(16 << n),
        }
    }

    /// Lanes of a packed type, 1 for others.
    #[must_use]
    pub const fn lanes(self) -> u32 {
        match (self.packed_bits(), self.base().bits()) {
            (None, _) | (_, 0) => 1,
            (Some(bits), lane) => bits / lane,
        }
    }

    /// Whether it is an array.
    #[must_use]
    pub const fn is_array(self) -> bool {
        self.0 & Self::ARRAY != 0
    }

    /// The type of an array's elements, itself if it is none.
    #[must_use]
    pub const fn element(self) -> Self {
        Self(self.0 & !Self::ARRAY)
    }

    /// The type of a packed type's lanes, itself if it is none.
    #[must_use]
    pub const fn lane(self) -> Self {
        Self::of(self.base())
    }

    /// Bits of one value, of one element for arrays; 0 for none.
    #[must_use]
    pub const fn bits(self) -> u32 {
        match self.packed_bits() {
            Some(bits) => bits,
            None => self.base().bits(),
        }
    }

    /// Bytes of one value in memory, of one element for arrays; 0 for none.
    #[must_use]
    pub const fn bytes(self) -> u32 {
        self.bits().div_ceil(8)
    }

    /// Whether the base is a floating-point type.
    #[must_use]
    pub const fn is_float(self) -> bool {
        matches!(self.base(), Base::F16 | Base::F32 | Base::F64)
    }

    /// Whether the base is a signed integer.
    #[must_use]
    pub const fn is_signed(self) -> bool {
        matches!(self.base(), Base::S8 | Base::S16 | Base::S32 | Base::S64)
    }

    /// Whether the base is an unsigned integer.
    #[must_use]
    pub const fn is_unsigned(self) -> bool {
        matches!(self.base(), Base::U8 | Base::U16 | Base::U32 | Base::U64)
    }

    /// Whether it is the handle of an image.
    #[must_use]
    pub const fn is_image(self) -> bool {
        matches!(self.base(), Base::ROIMG | Base::WOIMG | Base::RWIMG)
    }

    /// Whether it is the handle of a signal.
    #[must_use]
    pub const fn is_signal(self) -> bool {
        matches!(self.base(), Base::SIG32 | Base::SIG64)
    }

    /// Whether the number stands for a type: a known base, packed only from lanes that fit, no other bits.
    #[must_use]
    pub fn is_valid(self) -> bool {
        let packable = self.is_float() || self.is_signed() || self.is_unsigned();
        let fits = match self.packed_bits() {
            None => true,
            Some(bits) => packable && self.base().bits() < bits,
        };
        self.0 >> 8 == 0 && self.base().name().is_some() && fits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packed_type_has_lanes() {
        let u8x4 = Type(1 | 1 << 5);
        assert_eq!((u8x4.lanes(), u8x4.bits(), u8x4.bytes()), (4, 32, 4));
        assert_eq!(u8x4.lane(), Type::U8);
        let f64x2 = Type(11 | 3 << 5);
        assert_eq!((f64x2.lanes(), f64x2.bits()), (2, 128));
        assert!(u8x4.is_valid() && f64x2.is_valid());
        let f64x1 = Type(11 | 2 << 5);
        assert!(!f64x1.is_valid());
    }

    #[test]
    fn an_array_has_elements() {
        let array = Type(3 | 1 << 7);
        assert!(array.is_array() && array.is_valid());
        assert_eq!((array.element(), array.bytes()), (Type::U32, 4));
    }

    #[test]
    fn not_every_number_is_a_type() {
        assert!(Type::B1.is_valid());
        assert!(!Type(24).is_valid());
        assert!(!Type(1 << 8).is_valid());
        assert!(!Type(12 | 1 << 5).is_valid());
    }
}
