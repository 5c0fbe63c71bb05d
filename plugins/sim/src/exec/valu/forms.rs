//! Which bodies of an operation are compiled: by shape, by scalar sources, and by how often programs use it.

use super::{
    carry_fast_versions, carry_slow_versions, lane_fast_versions, lane_signed_versions, lane_slow_versions,
    test_fast_versions, test_slow_versions, Carry, Lane, Test,
};
use crate::exec::op::{Handler, Versions};
use crate::exec::word::{Kind, Word};

/// The compiled forms of one operation.
#[derive(Clone, Copy)]
pub(crate) struct Forms {
    /// The fast body by which sources are scalar; absent combinations take the slow body.
    pub(crate) fast: [Option<Versions>; 8],
    /// The body for negations and absolute values alone, where there is one.
    pub(crate) signed: Option<Versions>,
    /// The slow body.
    pub(crate) slow: Versions,
    /// Which shape it is.
    pub(crate) shape: Shape,
    /// Whether source 2 is a mask.
    pub(crate) mask_in: bool,
}

/// The shape of an operation: what its destination and second destination are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A [`Lane`].
    Lane,
    /// A [`Test`].
    Test,
    /// A [`Carry`].
    Carry,
}

/// No fast body for scalar sources.
pub(crate) const COLD: u8 = 0;
/// A fast body for a scalar source 0 and for a scalar source 1.
pub(crate) const WARM: u8 = 1;
/// With three sources, a fast body for every combination but three scalars.
pub(crate) const HOT: u8 = 2;

/// Sources of an operation with these lane types for the second and third.
const fn sources<B: Word, C: Word>() -> usize {
    if B::KIND.rows() == 0 {
        1
    } else if C::KIND.rows() == 0 {
        2
    } else {
        3
    }
}

/// The forms of [`lane_signed`], for an operation on floats that is as hot.
const fn signed_forms<O: Lane, const HEAT: u8>() -> Option<Versions> {
    if HEAT == COLD || !matches!(O::D::KIND, Kind::F32 | Kind::F64) || O::A::KIND.is_half() {
        return None;
    }
    Some([
        lane_slow_versions::portable::<O>,
        lane_signed_versions::avx2::<O>,
        lane_signed_versions::avx512::<O>,
    ])
}

macro_rules! forms {
    ($name:ident, $trait:ident, $fast:ident, $slow:ident, $shape:ident, |$o:ident| $sources:expr, $mask_in:expr, $signed:expr) => {
        /// The forms of an operation of this shape that is as hot as `HEAT`.
        ///
        /// Every body costs compile time and space. So only warm operations have AVX-512 bodies of
        /// their own, and the portable level has a fast body for vector sources only.
        pub(crate) const fn $name<$o: $trait, const HEAT: u8>() -> Forms {
            let plain = $fast::portable::<$o, 0>;
            let slow = $slow::portable::<$o>;
            if HEAT == COLD {
                let fast = [
                    Some([plain, $fast::avx2::<$o, 0>, $fast::avx2::<$o, 0>]),
                    None,
                    None,
                    None,
                    None,
                    None,
                    None,
                    None,
                ];
                return Forms {
                    fast,
                    signed: None,
                    slow: [slow; 3],
                    shape: Shape::$shape,
                    mask_in: $mask_in,
                };
            }
            let mut fast = [None; 8];
            fast[0] = Some([
                plain as Handler,
                $fast::avx2::<$o, 0>,
                $fast::avx512::<$o, 0>,
            ]);
            fast[1] = Some([
                slow as Handler,
                $fast::avx2::<$o, 1>,
                $fast::avx512::<$o, 1>,
            ]);
            if $sources > 1 {
                fast[2] = Some([
                    slow as Handler,
                    $fast::avx2::<$o, 2>,
                    $fast::avx512::<$o, 2>,
                ]);
            }
            if HEAT == HOT && $sources > 2 {
                fast[3] = Some([
                    slow as Handler,
                    $fast::avx2::<$o, 3>,
                    $fast::avx512::<$o, 3>,
                ]);
                fast[4] = Some([
                    slow as Handler,
                    $fast::avx2::<$o, 4>,
                    $fast::avx512::<$o, 4>,
                ]);
                fast[5] = Some([
                    slow as Handler,
                    $fast::avx2::<$o, 5>,
                    $fast::avx512::<$o, 5>,
                ]);
                fast[6] = Some([
                    slow as Handler,
                    $fast::avx2::<$o, 6>,
                    $fast::avx512::<$o, 6>,
                ]);
            }
            let slow: Versions = [slow, $slow::avx2::<$o>, $slow::avx2::<$o>];
            Forms {
                fast,
                signed: $signed,
                slow,
                shape: Shape::$shape,
                mask_in: $mask_in,
            }
        }
    };
}

forms!(
    lane,
    Lane,
    lane_fast_versions,
    lane_slow_versions,
    Lane,
    |O| sources::<O::B, O::C>(),
    false,
    signed_forms::<O, HEAT>()
);
forms!(
    test,
    Test,
    test_fast_versions,
    test_slow_versions,
    Test,
    |O| 2,
    false,
    None
);
forms!(
    carry,
    Carry,
    carry_fast_versions,
    carry_slow_versions,
    Carry,
    |O| sources::<O::B, O::C>(),
    O::IN,
    None
);
