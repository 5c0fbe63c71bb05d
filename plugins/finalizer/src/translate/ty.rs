//! Types of LLVM IR, as far as values of HSAIL need them.

use crate::brig::{Base, Type};
use std::fmt;

/// The type of a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scalar {
    /// An integer of so many bits.
    Int(u32),
    Half,
    Float,
    Double,
}

impl Scalar {
    const fn bits(self) -> u32 {
        match self {
            Self::Int(bits) => bits,
            Self::Half => 16,
            Self::Float => 32,
            Self::Double => 64,
        }
    }
}

/// A scalar, or a vector of several lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ty {
    pub(super) scalar: Scalar,
    pub(super) lanes: u32,
}

impl Ty {
    pub(super) const I1: Self = Self::int(1);
    pub(super) const I8: Self = Self::int(8);
    pub(super) const I16: Self = Self::int(16);
    pub(super) const I32: Self = Self::int(32);
    pub(super) const I64: Self = Self::int(64);
    pub(super) const I128: Self = Self::int(128);
    pub(super) const HALF: Self = Self::of_scalar(Scalar::Half);
    pub(super) const FLOAT: Self = Self::of_scalar(Scalar::Float);
    pub(super) const DOUBLE: Self = Self::of_scalar(Scalar::Double);

    const fn of_scalar(scalar: Scalar) -> Self {
        Self { scalar, lanes: 1 }
    }

    pub(super) const fn int(bits: u32) -> Self {
        Self::of_scalar(Scalar::Int(bits))
    }

    /// What operations of a type work on; `None` for no type. Handles are 64-bit integers.
    pub(super) fn of(ty: Type) -> Option<Self> {
        let scalar = match ty.base() {
            Base::F16 => Scalar::Half,
            Base::F32 => Scalar::Float,
            Base::F64 => Scalar::Double,
            base => match base.bits() {
                0 => return None,
                bits => Scalar::Int(bits),
            },
        };
        Some(Self {
            scalar,
            lanes: ty.lanes(),
        })
    }

    /// Bits of all lanes.
    pub(super) const fn bits(self) -> u32 {
        self.scalar.bits() * self.lanes
    }

    /// Bits of a lane.
    pub(super) const fn lane_bits(self) -> u32 {
        self.scalar.bits()
    }

    /// The type of a lane.
    pub(super) const fn lane(self) -> Self {
        Self::of_scalar(self.scalar)
    }

    /// The same lanes as something else.
    pub(super) const fn with_scalar(self, scalar: Scalar) -> Self {
        Self { scalar, ..self }
    }

    /// The same lanes as integers of so many bits.
    pub(super) const fn with_int(self, bits: u32) -> Self {
        self.with_scalar(Scalar::Int(bits))
    }

    /// The same lanes as integers of the same size.
    pub(super) const fn as_int(self) -> Self {
        self.with_int(self.lane_bits())
    }

    pub(super) const fn is_float(self) -> bool {
        !matches!(self.scalar, Scalar::Int(_))
    }

    pub(super) const fn is_vector(self) -> bool {
        self.lanes > 1
    }

    /// The suffix of an intrinsic.
    pub(super) fn mangled(self) -> String {
        let scalar = match self.scalar {
            Scalar::Int(bits) => format!("i{bits}"),
            float => format!("f{}", float.bits()),
        };
        if self.is_vector() {
            format!("v{}{scalar}", self.lanes)
        } else {
            scalar
        }
    }

    /// A constant integer in all lanes.
    pub(super) fn splat(self, value: i128) -> String {
        let one = if self.lane_bits() == 1 {
            (value & 1 == 1).to_string()
        } else {
            value.to_string()
        };
        self.in_all_lanes(&one)
    }

    /// A constant floating-point number in all lanes, by the bits of a lane.
    pub(super) fn float_bits(self, bits: u64) -> String {
        let one = match self.scalar {
            Scalar::Half => format!("0xH{bits:04X}"),
            Scalar::Float => {
                let narrow = u32::try_from(bits).map_or(f32::NAN, f32::from_bits);
                format!("0x{:016X}", f64::from(narrow).to_bits())
            }
            Scalar::Double | Scalar::Int(_) => format!("0x{bits:016X}"),
        };
        self.in_all_lanes(&one)
    }

    fn in_all_lanes(self, one: &str) -> String {
        if !self.is_vector() {
            return one.to_owned();
        }
        let lane = format!("{} {one}", self.lane());
        format!("<{}>", vec![lane; self.lanes as usize].join(", "))
    }
}

impl fmt::Display for Ty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_vector() {
            return write!(f, "<{} x {}>", self.lanes, self.lane());
        }
        match self.scalar {
            Scalar::Int(bits) => write!(f, "i{bits}"),
            Scalar::Half => f.write_str("half"),
            Scalar::Float => f.write_str("float"),
            Scalar::Double => f.write_str("double"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_have_the_names_of_llvm() {
        let u8x4 = Ty::of(Type(1 | 1 << 5)).expect("a type");
        assert_eq!(
            (u8x4.to_string(), u8x4.mangled()),
            ("<4 x i8>".into(), "v4i8".into())
        );
        let f16x2 = Ty::of(Type(9 | 1 << 5)).expect("a type");
        assert_eq!(
            (f16x2.to_string(), f16x2.mangled()),
            ("<2 x half>".into(), "v2f16".into())
        );
        assert_eq!(Ty::of(Type::SIG64), Some(Ty::I64));
        assert_eq!(Ty::of(Type::NONE), None);
    }

    #[test]
    fn constants_are_in_every_lane() {
        assert_eq!(Ty::I32.splat(-1), "-1");
        assert_eq!(Ty::I1.splat(1), "true");
        let two = Ty {
            lanes: 2,
            ..Ty::FLOAT
        };
        assert_eq!(
            two.float_bits(0x3f80_0000),
            "<float 0x3FF0000000000000, float 0x3FF0000000000000>"
        );
        assert_eq!(Ty::HALF.float_bits(0x3c00), "0xH3C00");
    }
}
