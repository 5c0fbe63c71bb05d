//! MFMA: matrix multiply-add over a whole wave, for gfx908 and gfx90a.
//!
//! `D[b] = A[b] * B[b] + C[b]` for some blocks of M x K times K x N matrices with M = N. Where an element sits
//! follows from AMD's formulas (matrix instruction calculator, and the layout section of the MI300 ISA
//! document). With `K_L = K M B / 64` elements of A and B per lane:
//!
//! * `A[b][i][k]` is element `k % K_L` of lane `i + M (b + B (k / K_L))`, and B likewise with `j`;
//! * `D[b][i][j]` is element `i % H + H (i / (H M_I) + G (b / B_I))` of lane `j + N (i / H % M_I + M_I (b % B_I))`,
//!   where H is 1 for double precision and 4 otherwise, `B_I = max(1, 64 H / (M N))`, `M_I = 64 / (B_I N)`,
//!   `G = M / (H M_I)`.
//!
//! EXEC is ignored. Products are added in order of k with one rounding each.

use super::level::{versions, Host};
use super::op::{Flow, Op, Versions};
use super::row::Row;
use super::scalar_float::Half;
use super::slot::LITERAL;
use super::valu::is_scalar;
use super::vop2::fused32;
use super::wave::Wave;

/// What the elements of A and B are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Element {
    F32,
    F16,
    Bf16,
    I8,
    F64,
}

/// A matrix instruction: mnemonic and shape.
#[derive(Debug, Clone, Copy)]
struct Shape {
    name: &'static str,
    element: Element,
    /// Rows and columns.
    size: usize,
    /// Inner dimension.
    depth: usize,
    blocks: usize,
}

const fn shape(name: &'static str, element: Element, size: usize, depth: usize, blocks: usize) -> Shape {
    Shape {
        name,
        element,
        size,
        depth,
        blocks,
    }
}

use Element::{Bf16, F16, F32, F64, I8};

const SHAPES: [Shape; 27] = [
    shape("v_mfma_f32_32x32x1f32", F32, 32, 1, 2),
    shape("v_mfma_f32_16x16x1f32", F32, 16, 1, 4),
    shape("v_mfma_f32_4x4x1f32", F32, 4, 1, 16),
    shape("v_mfma_f32_32x32x2f32", F32, 32, 2, 1),
    shape("v_mfma_f32_16x16x4f32", F32, 16, 4, 1),
    shape("v_mfma_f32_32x32x4f16", F16, 32, 4, 2),
    shape("v_mfma_f32_16x16x4f16", F16, 16, 4, 4),
    shape("v_mfma_f32_4x4x4f16", F16, 4, 4, 16),
    shape("v_mfma_f32_32x32x8f16", F16, 32, 8, 1),
    shape("v_mfma_f32_16x16x16f16", F16, 16, 16, 1),
    shape("v_mfma_i32_32x32x4i8", I8, 32, 4, 2),
    shape("v_mfma_i32_16x16x4i8", I8, 16, 4, 4),
    shape("v_mfma_i32_4x4x4i8", I8, 4, 4, 16),
    shape("v_mfma_i32_32x32x8i8", I8, 32, 8, 1),
    shape("v_mfma_i32_16x16x16i8", I8, 16, 16, 1),
    shape("v_mfma_f32_32x32x2bf16", Bf16, 32, 2, 2),
    shape("v_mfma_f32_16x16x2bf16", Bf16, 16, 2, 4),
    shape("v_mfma_f32_4x4x2bf16", Bf16, 4, 2, 16),
    shape("v_mfma_f32_32x32x4bf16", Bf16, 32, 4, 1),
    shape("v_mfma_f32_16x16x8bf16", Bf16, 16, 8, 1),
    shape("v_mfma_f32_32x32x4bf16_1k", Bf16, 32, 4, 2),
    shape("v_mfma_f32_16x16x4bf16_1k", Bf16, 16, 4, 4),
    shape("v_mfma_f32_4x4x4bf16_1k", Bf16, 4, 4, 16),
    shape("v_mfma_f32_32x32x8bf16_1k", Bf16, 32, 8, 1),
    shape("v_mfma_f32_16x16x16bf16_1k", Bf16, 16, 16, 1),
    shape("v_mfma_f64_16x16x4f64", F64, 16, 4, 1),
    shape("v_mfma_f64_4x4x4f64", F64, 4, 4, 4),
];

impl Shape {
    /// Elements of A and B per lane.
    fn per_lane(self) -> usize {
        self.depth * self.size * self.blocks / 64
    }

    /// Elements of C and D per lane.
    fn results_per_lane(self) -> usize {
        self.size * self.size * self.blocks / 64
    }

    /// Element and first lane of row `i` of block `b` of C and D.
    fn result_place(self, b: usize, i: usize) -> (usize, usize) {
        let h = if self.element == F64 { 1 } else { 4 };
        let blocks_inside = (64 * h / (self.size * self.size)).max(1);
        let rows_inside = 64 / (blocks_inside * self.size);
        let groups = self.size / (h * rows_inside);
        let item = i % h + h * (i / (h * rows_inside) + groups * (b / blocks_inside));
        let lane = self.size * (i / h % rows_inside + rows_inside * (b % blocks_inside));
        (item, lane)
    }
}

/// Control fields, packed into the payload: broadcast size and block of A, and pattern of B.
pub(crate) fn payload(mods: &crate::isa::Mods) -> u64 {
    u64::from(mods.cbsz & 7) | u64::from(mods.abid & 15) << 4 | u64::from(mods.blgp & 7) << 8
}

/// Lane that lane `lane` of B is taken from.
fn pattern_source(pattern: u64, lane: usize) -> usize {
    match pattern {
        1 => lane & 31,
        2 => lane & 31 | 32,
        3 => (lane + 16) & 63,
        4..=7 => lane & 15 | (16 * (pattern as usize - 4)),
        _ => lane,
    }
}

/// Registers of an operand; a constant is the same in every one of them.
fn operand_row(wave: &Wave, code: u16, n: usize) -> Row {
    if is_scalar(code) {
        Row::splat(wave.s[usize::from(code) & 511])
    } else {
        *wave.row(code + n as u16)
    }
}

/// Elements of A or B as single precision numbers (or integers in their place), by element, then lane.
#[inline(always)]
fn unpacked<T: Copy + Default>(
    wave: &Wave,
    code: u16,
    shape: Shape,
    convert: impl Fn(u32, usize) -> T,
) -> [[T; 64]; 4] {
    let mut out = [[T::default(); 64]; 4];
    let per_register = match shape.element {
        F32 | F64 => 1,
        F16 | Bf16 => 2,
        I8 => 4,
    };
    for (element, lanes) in out.iter_mut().enumerate().take(shape.per_lane()) {
        let row = operand_row(wave, code, element / per_register);
        for (lane, value) in lanes.iter_mut().enumerate() {
            *value = convert(row.0[lane], element % per_register);
        }
    }
    out
}

/// Applies a lane pattern to B.
fn patterned<T: Copy>(values: &mut [[T; 64]; 4], pattern: u64) {
    if pattern != 0 {
        for lanes in values {
            let old = *lanes;
            for (lane, value) in lanes.iter_mut().enumerate() {
                *value = old[pattern_source(pattern, lane)];
            }
        }
    }
}

/// The block of A that block `b` uses.
fn broadcast_block(payload: u64, b: usize) -> usize {
    let group = (1usize << (payload & 7)) - 1;
    (b & !group) | ((payload >> 4 & 15) as usize & group)
}

/// The multiplication proper: `accumulate(d, a, b)` for every row slice of D.
#[inline(always)]
fn multiply<T: Copy, const N: usize>(
    shape: Shape,
    payload: u64,
    a: &[[T; 64]; 4],
    b: &[[T; 64]; 4],
    d: &mut [Row],
    accumulate: impl Fn(&mut [u32; N], T, &[T; N]),
) {
    let per_lane = shape.per_lane();
    for block in 0..shape.blocks {
        let from = broadcast_block(payload, block) % shape.blocks;
        for i in 0..N {
            let (item, lane) = shape.result_place(block, i);
            let Some(target) = d
                .get_mut(item)
                .and_then(|row| row.0.get_mut(lane..)?.first_chunk_mut())
            else {
                continue;
            };
            for k in 0..shape.depth {
                let (element, group) = (k % per_lane, shape.blocks * (k / per_lane));
                let left = a[element & 3][(i + N * (from + group)) & 63];
                let lane = N * (block + group);
                let Some(right) = b[element & 3].get(lane..).and_then(|lanes| lanes.first_chunk()) else {
                    continue;
                };
                accumulate(target, left, right);
            }
        }
    }
}

/// Single precision results.
#[inline(always)]
fn floats<H: Host, const N: usize>(wave: &Wave, op: &Op, shape: Shape, d: &mut [Row]) {
    let convert = |bits: u32, part: usize| match shape.element {
        F16 => Half((bits >> (16 * part)) as u16).wide(),
        Bf16 => f32::from_bits(bits >> (16 * part) << 16),
        _ => f32::from_bits(bits),
    };
    let a = unpacked(wave, op.a, shape, convert);
    let mut b = unpacked(wave, op.b, shape, convert);
    patterned(&mut b, op.x >> 8 & 7);
    multiply::<f32, N>(shape, op.x, &a, &b, d, |target, left, right| {
        for j in 0..N {
            target[j] = fused32::<H>(left, right[j], f32::from_bits(target[j])).to_bits();
        }
    });
}

/// Integer results.
#[inline(always)]
fn integers<const N: usize>(wave: &Wave, op: &Op, shape: Shape, d: &mut [Row]) {
    let convert = |bits: u32, part: usize| i32::from((bits >> (8 * part)) as i8);
    let a = unpacked(wave, op.a, shape, convert);
    let mut b = unpacked(wave, op.b, shape, convert);
    patterned(&mut b, op.x >> 8 & 7);
    multiply::<i32, N>(shape, op.x, &a, &b, d, |target, left, right| {
        for j in 0..N {
            target[j] = target[j].wrapping_add(left.wrapping_mul(right[j]) as u32);
        }
    });
}

/// Double precision: the pattern field negates A, B and C instead.
fn doubles(wave: &Wave, op: &Op, shape: Shape, d: &mut [Row]) {
    let join = |low: u32, high: u32| f64::from_bits(u64::from(low) | u64::from(high) << 32);
    let read = |code: u16| {
        let (low, high) = (
            operand_row(wave, code, 0),
            operand_row(
                wave,
                code + u16::from(is_scalar(code)),
                usize::from(!is_scalar(code)),
            ),
        );
        let values: [f64; 64] = std::array::from_fn(|lane| join(low.0[lane], high.0[lane]));
        values
    };
    let (a, b, negate) = (read(op.a), read(op.b), op.x >> 8 & 7);
    let sign = |bit: u64, value: f64| if negate >> bit & 1 != 0 { -value } else { value };
    let size = shape.size;
    for block in 0..shape.blocks {
        for i in 0..size {
            let (item, lane) = shape.result_place(block, i);
            for j in 0..size {
                let mut sum = sign(2, join(d[2 * item].0[lane + j], d[2 * item + 1].0[lane + j]));
                for k in 0..shape.depth {
                    let left = a[(i + size * (block + shape.blocks * k)) & 63];
                    let right = b[(j + size * (block + shape.blocks * k)) & 63];
                    sum = sign(0, left).mul_add(sign(1, right), sum);
                }
                d[2 * item].0[lane + j] = sum.to_bits() as u32;
                d[2 * item + 1].0[lane + j] = (sum.to_bits() >> 32) as u32;
            }
        }
    }
}

/// Any matrix instruction; [`Op::e`] is its number in [`SHAPES`].
#[inline(always)]
fn matrix<H: Host>(wave: &mut Wave, op: &Op) -> Flow {
    wave.set_s64(LITERAL, 0);
    let shape = SHAPES[usize::from(op.e & 31) % SHAPES.len()];
    let registers = shape.results_per_lane() * if shape.element == F64 { 2 } else { 1 };
    let mut d = [Row::ZERO; 32];
    let d = &mut d[..registers];
    for (n, row) in d.iter_mut().enumerate() {
        *row = if shape.element == F64 && is_scalar(op.c) {
            Row::splat(wave.s[(usize::from(op.c) + n % 2) & 511])
        } else {
            operand_row(wave, op.c, n)
        };
    }
    match (shape.element, shape.size) {
        (F64, _) => doubles(wave, op, shape, d),
        (I8, 32) => integers::<32>(wave, op, shape, d),
        (I8, 16) => integers::<16>(wave, op, shape, d),
        (I8, _) => integers::<4>(wave, op, shape, d),
        (_, 32) => floats::<H, 32>(wave, op, shape, d),
        (_, 16) => floats::<H, 16>(wave, op, shape, d),
        _ => floats::<H, 4>(wave, op, shape, d),
    }
    for (n, row) in d.iter().enumerate() {
        *wave.v[(usize::from(op.d) + n) & 511] = *row;
    }
    Flow::Next
}

versions!(matrix_versions, matrix, [], []);

/// The handler of a mnemonic, and the payload of [`Op::e`].
pub(crate) fn handler(name: &str) -> Option<(Versions, u16)> {
    let number = SHAPES.iter().position(|shape| shape.name == name)?;
    Some((matrix_versions::all(), number as u16))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_result_has_a_place_of_its_own() {
        for shape in SHAPES {
            let mut seen = vec![false; 64 * shape.results_per_lane()];
            for b in 0..shape.blocks {
                for i in 0..shape.size {
                    let (item, lane) = shape.result_place(b, i);
                    for j in 0..shape.size {
                        let place = &mut seen[64 * item + lane + j];
                        assert!(!*place, "{}", shape.name);
                        *place = true;
                    }
                }
            }
            assert!(seen.into_iter().all(|seen| seen), "{}", shape.name);
        }
    }

    #[test]
    fn places_are_those_of_the_matrix_calculator() {
        let place = |name: &str, b, i| {
            SHAPES
                .iter()
                .find(|shape| shape.name == name)
                .map(|shape| shape.result_place(b, i))
        };
        // Register r of the 32 x 32 results holds row 8 (r / 4) + 4 (lane / 32) + r % 4.
        assert_eq!(place("v_mfma_f32_32x32x2f32", 0, 13), Some((5, 32)));
        assert_eq!(place("v_mfma_f32_32x32x1f32", 1, 13), Some((21, 32)));
        assert_eq!(place("v_mfma_f32_16x16x4f32", 0, 6), Some((2, 16)));
        assert_eq!(place("v_mfma_f32_4x4x1f32", 5, 3), Some((3, 20)));
        assert_eq!(place("v_mfma_f64_16x16x4f64", 0, 6), Some((1, 32)));
        assert_eq!(place("v_mfma_f64_4x4x4f64", 2, 3), Some((0, 44)));
    }

    #[test]
    fn broadcasts_and_patterns() {
        assert_eq!(broadcast_block(1 | 1 << 4, 2), 3);
        assert_eq!(broadcast_block(2 | 3 << 4, 9), 11);
        assert_eq!(broadcast_block(0, 9), 9);
        assert_eq!(
            (
                pattern_source(1, 40),
                pattern_source(2, 3),
                pattern_source(3, 50),
                pattern_source(6, 17)
            ),
            (8, 35, 2, 33)
        );
    }
}
