//! Semantics of the vector compares (VOPC and their VOP3 forms). `v_cmpx` differs from `v_cmp` only
//! in writing EXEC as well, so both share a row here.

#![expect(
    clippy::neg_cmp_op_on_partial_ord,
    reason = "the negated compares differ from their opposites for NaN"
)]

use super::define::{test, Entry};
use super::fp;
use super::scalar_float::Half;

/// The sixteen float compares of one type.
macro_rules! float {
    ($suffix:literal, $heat:ident, $type:ty, $wide:expr) => {
        [
            test!(concat!("v_cmp_f_", $suffix), COLD, |_, _a: $type, _b: $type| {
                false
            }),
            test!(
                concat!("v_cmp_lt_", $suffix),
                $heat,
                |_, a: $type, b: $type| $wide(a) < $wide(b)
            ),
            test!(
                concat!("v_cmp_eq_", $suffix),
                $heat,
                |_, a: $type, b: $type| $wide(a) == $wide(b)
            ),
            test!(
                concat!("v_cmp_le_", $suffix),
                $heat,
                |_, a: $type, b: $type| $wide(a) <= $wide(b)
            ),
            test!(
                concat!("v_cmp_gt_", $suffix),
                $heat,
                |_, a: $type, b: $type| $wide(a) > $wide(b)
            ),
            test!(
                concat!("v_cmp_lg_", $suffix),
                COLD,
                |_, a: $type, b: $type| $wide(a) < $wide(b) || $wide(a) > $wide(b)
            ),
            test!(
                concat!("v_cmp_ge_", $suffix),
                $heat,
                |_, a: $type, b: $type| $wide(a) >= $wide(b)
            ),
            test!(
                concat!("v_cmp_o_", $suffix),
                COLD,
                |_, a: $type, b: $type| !$wide(a).is_nan() && !$wide(b).is_nan()
            ),
            test!(concat!("v_cmp_u_", $suffix), COLD, |_, a: $type, b: $type| $wide(
                a
            )
            .is_nan()
                || $wide(b).is_nan()),
            test!(
                concat!("v_cmp_nge_", $suffix),
                COLD,
                |_, a: $type, b: $type| !($wide(a) >= $wide(b))
            ),
            test!(
                concat!("v_cmp_nlg_", $suffix),
                COLD,
                |_, a: $type, b: $type| !($wide(a) < $wide(b) || $wide(a) > $wide(b))
            ),
            test!(
                concat!("v_cmp_ngt_", $suffix),
                $heat,
                |_, a: $type, b: $type| !($wide(a) > $wide(b))
            ),
            test!(
                concat!("v_cmp_nle_", $suffix),
                COLD,
                |_, a: $type, b: $type| !($wide(a) <= $wide(b))
            ),
            test!(
                concat!("v_cmp_neq_", $suffix),
                COLD,
                |_, a: $type, b: $type| $wide(a) != $wide(b)
            ),
            test!(
                concat!("v_cmp_nlt_", $suffix),
                $heat,
                |_, a: $type, b: $type| !($wide(a) < $wide(b))
            ),
            test!(concat!("v_cmp_tru_", $suffix), COLD, |_, _a: $type, _b: $type| {
                true
            }),
        ]
    };
}

/// The eight integer compares of one type.
macro_rules! integer {
    ($suffix:literal, $heat:ident, $type:ty) => {
        [
            test!(concat!("v_cmp_f_", $suffix), COLD, |_, _a: $type, _b: $type| {
                false
            }),
            test!(concat!("v_cmp_lt_", $suffix), $heat, |_, a: $type, b: $type| a
                < b),
            test!(concat!("v_cmp_eq_", $suffix), $heat, |_, a: $type, b: $type| a
                == b),
            test!(concat!("v_cmp_le_", $suffix), $heat, |_, a: $type, b: $type| a
                <= b),
            test!(concat!("v_cmp_gt_", $suffix), $heat, |_, a: $type, b: $type| a
                > b),
            test!(concat!("v_cmp_ne_", $suffix), $heat, |_, a: $type, b: $type| a
                != b),
            test!(concat!("v_cmp_ge_", $suffix), $heat, |_, a: $type, b: $type| a
                >= b),
            test!(concat!("v_cmp_t_", $suffix), COLD, |_, _a: $type, _b: $type| true),
        ]
    };
}

/// The value itself, where it compares without conversion.
#[inline(always)]
fn same<T>(value: T) -> T {
    value
}

static F16: [Entry; 16] = float!("f16", COLD, Half, Half::wide);
static F32: [Entry; 16] = float!("f32", WARM, f32, same);
static F64: [Entry; 16] = float!("f64", COLD, f64, same);
static I16: [Entry; 8] = integer!("i16", COLD, i16);
static U16: [Entry; 8] = integer!("u16", COLD, u16);
static I32: [Entry; 8] = integer!("i32", WARM, i32);
static U32: [Entry; 8] = integer!("u32", WARM, u32);
static I64: [Entry; 8] = integer!("i64", COLD, i64);
static U64: [Entry; 8] = integer!("u64", COLD, u64);
/// Classification looks at the bits: no denormal is flushed before it.
static CLASS: [Entry; 3] = [
    test!("v_cmp_class_f32", COLD, |_, a: u32, b: u32| fp::class(
        a.into(),
        23,
        8
    ) & b
        != 0),
    test!("v_cmp_class_f64", COLD, |_, a: u64, b: u32| fp::class(a, 52, 11)
        & b
        != 0),
    test!("v_cmp_class_f16", COLD, |_, a: u16, b: u32| fp::class(
        a.into(),
        10,
        5
    ) & b
        != 0),
];

/// The rows, under the names of the `v_cmp` forms.
pub(crate) static TABLES: [&[Entry]; 10] = [&F16, &F32, &F64, &I16, &U16, &I32, &U32, &I64, &U64, &CLASS];
