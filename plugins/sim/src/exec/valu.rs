//! The shapes of lane-by-lane operations, and the loops that run them.
//!
//! A semantics function is pure: `fn(mode, a, b, c) -> result` for one lane. Three shapes exist:
//! [`Lane`] makes a value, [`Test`] makes a mask bit, [`Carry`] makes a value and takes or makes a mask
//! bit. Each shape has a fast body (plain operands, default rounding and denormals, sources straight from
//! the register file) and a slow one (sources copied and brought into shape by
//! [`modifiers`](super::modifiers)). EXEC is handled here and nowhere else.

mod forms;

use super::level::{versions, Host, Portable};
use super::mode::{plain, Mode};
use super::modifiers::{self, Ext};
use super::op::{flag, Flow, Op};
use super::row::Row;
use super::slot::{EXEC, LITERAL, SCALAR};
use super::wave::{Parts, Wave};
use super::word::{Kind, Word};

pub(crate) use forms::{carry, lane, test, Forms, Shape, COLD, HOT, WARM};

/// An operation that computes each lane's result from that lane's sources.
pub(crate) trait Lane {
    /// Source 0.
    type A: Word;
    /// Source 1.
    type B: Word;
    /// Source 2.
    type C: Word;
    /// Result.
    type D: Word;
    /// Whether the result depends on the rounding mode.
    const ROUNDS: bool = false;
    /// The result.
    fn result<H: Host>(mode: Mode, a: Self::A, b: Self::B, c: Self::C) -> Self::D;
    /// The result when rounding is not to nearest.
    fn rounded(mode: Mode, a: Self::A, b: Self::B, c: Self::C) -> Self::D {
        Self::result::<Portable>(mode, a, b, c)
    }
    /// The result of an integer operation with the clamp bit.
    fn clamped(mode: Mode, a: Self::A, b: Self::B, c: Self::C) -> Self::D {
        Self::result::<Portable>(mode, a, b, c)
    }
}

/// An operation that computes one mask bit per lane.
pub(crate) trait Test {
    /// Source 0.
    type A: Word;
    /// Source 1.
    type B: Word;
    /// The bit.
    fn test(mode: Mode, a: Self::A, b: Self::B) -> bool;
}

/// An operation with a mask bit coming in, going out, or both.
pub(crate) trait Carry {
    /// Source 0.
    type A: Word;
    /// Source 1.
    type B: Word;
    /// Source 2, where it is not the mask.
    type C: Word;
    /// Result.
    type D: Word;
    /// Whether a mask comes in through source 2.
    const IN: bool;
    /// Whether a mask goes out.
    const OUT: bool;
    /// Result and bit going out.
    fn result<H: Host>(mode: Mode, a: Self::A, b: Self::B, c: Self::C, bit: bool) -> (Self::D, bool);
    /// The same with the clamp bit.
    fn clamped(mode: Mode, a: Self::A, b: Self::B, c: Self::C, bit: bool) -> (Self::D, bool) {
        Self::result::<Portable>(mode, a, b, c, bit)
    }
}

/// What the mode must be so that host arithmetic is right for operands of these kinds.
const fn needs(sources: [Kind; 3], result: Kind, rounds: bool) -> u8 {
    let mut bits = 0;
    let mut i = 0;
    while i < 4 {
        let kind = if i < 3 { sources[i] } else { result };
        bits |= match kind {
            Kind::F32 | Kind::PkF32 => plain::F32_DENORMALS,
            Kind::F16 | Kind::F64 | Kind::PkF16 => plain::F64_DENORMALS,
            _ => 0,
        };
        i += 1;
    }
    if rounds {
        bits |= match result {
            Kind::F32 | Kind::PkF32 => plain::F32_NEAREST,
            Kind::F16 | Kind::F64 | Kind::PkF16 => plain::F64_NEAREST,
            _ => plain::F32_NEAREST | plain::F64_NEAREST,
        };
    }
    bits
}

/// One source of the fast bodies: two rows, or a scalar for all lanes.
#[derive(Clone, Copy)]
struct Source<'a> {
    low: &'a Row,
    high: &'a Row,
    scalar: u64,
}

impl<'a> Source<'a> {
    #[inline(always)]
    fn new<T: Word>(v: &'a [Box<Row>; 512], s: &[u32; 512], code: u16, is_scalar: bool) -> Self {
        let index = usize::from(code);
        let high = index + usize::from(T::KIND.rows() == 2);
        let mut scalar = 0;
        if is_scalar {
            scalar = s[index & 511].into();
            if T::KIND.rows() == 2 {
                scalar |= u64::from(s[(index + 1) & 511]) << 32;
            }
        }
        Self {
            low: &v[index & 511],
            high: &v[high & 511],
            scalar,
        }
    }

    #[inline(always)]
    fn lane<T: Word>(&self, lane: usize, is_scalar: bool) -> T {
        if is_scalar {
            T::pack(self.scalar as u32, (self.scalar >> 32) as u32)
        } else if T::KIND.rows() == 2 {
            T::pack(self.low.0[lane], self.high.0[lane])
        } else {
            T::pack(self.low.0[lane], 0)
        }
    }
}

/// What is computed for each lane. Types, and no closures: a closure that is called in two places may be compiled on its own,
/// and then without the instructions of its handler's level.
trait Body<O: Lane>: Copy {
    fn lane<H: Host>(self, a: O::A, b: O::B, c: O::C) -> O::D;
}

/// [`Lane::result`].
#[derive(Clone, Copy)]
struct Plain(Mode);
/// [`Lane::result`] of values whose signs are changed; see [`Ext::sign_masks`].
#[derive(Clone, Copy)]
struct Signed(Mode, [(u32, u32); 3]);
/// [`Lane::rounded`].
#[derive(Clone, Copy)]
struct Rounded(Mode);
/// [`Lane::clamped`].
#[derive(Clone, Copy)]
struct Clamped(Mode);

impl<O: Lane> Body<O> for Plain {
    #[inline(always)]
    fn lane<H: Host>(self, a: O::A, b: O::B, c: O::C) -> O::D {
        O::result::<H>(self.0, a, b, c)
    }
}

impl<O: Lane> Body<O> for Signed {
    #[inline(always)]
    fn lane<H: Host>(self, a: O::A, b: O::B, c: O::C) -> O::D {
        let signs = self.1;
        O::result::<H>(
            self.0,
            signed(a, signs[0]),
            signed(b, signs[1]),
            signed(c, signs[2]),
        )
    }
}

impl<O: Lane> Body<O> for Rounded {
    #[inline(always)]
    fn lane<H: Host>(self, a: O::A, b: O::B, c: O::C) -> O::D {
        O::rounded(self.0, a, b, c)
    }
}

impl<O: Lane> Body<O> for Clamped {
    #[inline(always)]
    fn lane<H: Host>(self, a: O::A, b: O::B, c: O::C) -> O::D {
        O::clamped(self.0, a, b, c)
    }
}

/// The lane loop: `body` of the three sources of every lane, into `low` and `high`.
#[inline(always)]
fn each_lane<H: Host, O: Lane, const K: u8>(
    low: &mut Row,
    high: &mut Row,
    [a, b, c]: [Source<'_>; 3],
    body: impl Body<O>,
) {
    for i in 0..64 {
        let result = body.lane::<H>(
            a.lane(i, K & 1 != 0),
            b.lane(i, K & 2 != 0),
            c.lane(i, K & 4 != 0),
        );
        let (lo, hi) = result.unpack();
        low.0[i] = lo;
        if O::D::KIND.rows() == 2 {
            high.0[i] = hi;
        }
    }
}

/// [`each_lane`] for the lanes of `mask` only; the others keep what `old` has.
#[inline(always)]
fn each_masked_lane<H: Host, O: Lane, const K: u8>(
    low: &mut Row,
    high: &mut Row,
    mask: &Row,
    [old_low, old_high]: [&Row; 2],
    [a, b, c]: [Source<'_>; 3],
    body: impl Body<O>,
) {
    for i in 0..64 {
        let result = body.lane::<H>(
            a.lane(i, K & 1 != 0),
            b.lane(i, K & 2 != 0),
            c.lane(i, K & 4 != 0),
        );
        let (lo, hi) = result.unpack();
        low.0[i] = (lo & mask.0[i]) | (old_low.0[i] & !mask.0[i]);
        if O::D::KIND.rows() == 2 {
            high.0[i] = (hi & mask.0[i]) | (old_high.0[i] & !mask.0[i]);
        }
    }
}

/// The fast body of [`Lane`]. Bit n of `K` says that source n is scalar.
#[inline(always)]
fn lane_fast<H: Host, O: Lane, const K: u8>(wave: &mut Wave, op: &Op) -> Flow {
    let needs = const { needs([O::A::KIND, O::B::KIND, O::C::KIND], O::D::KIND, O::ROUNDS) };
    if needs != 0 && wave.plain & needs != needs {
        return lane_slow_versions::portable::<O>(wave, op);
    }
    if K != 0 {
        wave.set_s64(LITERAL, op.x);
    }
    let (exec, mode) = (wave.exec(), wave.mode());
    if exec != !0 {
        wave.refresh_mask(exec);
    }
    let Parts {
        v, spare, mask, s, ..
    } = wave.parts();
    let sources = [
        Source::new::<O::A>(v, s, op.a, K & 1 != 0),
        Source::new::<O::B>(v, s, op.b, K & 2 != 0),
        Source::new::<O::C>(v, s, op.c, K & 4 != 0),
    ];
    let d = usize::from(op.d);
    let [low, high, ..] = spare;
    let old = [&*v[d & 511], &*v[(d + 1) & 511]];
    active_lanes::<H, O, K>([low, high], exec, mask, old, sources, Plain(mode));
    std::mem::swap(&mut v[d & 511], low);
    if O::D::KIND.rows() == 2 {
        std::mem::swap(&mut v[(d + 1) & 511], high);
    }
    Flow::Next
}

/// [`each_lane`] or [`each_masked_lane`], as EXEC is.
#[inline(always)]
fn active_lanes<H: Host, O: Lane, const K: u8>(
    [low, high]: [&mut Row; 2],
    exec: u64,
    mask: &Row,
    old: [&Row; 2],
    sources: [Source<'_>; 3],
    body: impl Body<O>,
) {
    if exec == !0 {
        each_lane::<H, O, K>(low, high, sources, body);
    } else {
        each_masked_lane::<H, O, K>(low, high, mask, old, sources, body);
    }
}

/// A source of the bodies that change signs: always rows, a scalar as one that is the same in all lanes.
#[inline(always)]
fn as_rows<'a, T: Word>(
    v: &'a [Box<Row>; 512],
    s: &[u32; 512],
    tmp: &'a mut [Box<Row>],
    code: u16,
) -> Source<'a> {
    if !is_scalar(code) {
        return Source::new::<T>(v, s, code, false);
    }
    let Source { scalar, .. } = Source::new::<T>(v, s, code, true);
    let [low, high] = tmp else {
        unreachable!("a source has two rows")
    };
    low.0 = [scalar as u32; 64];
    if T::KIND.rows() == 2 {
        high.0 = [(scalar >> 32) as u32; 64];
    }
    Source { low, high, scalar: 0 }
}

/// A value whose sign is changed; see [`Ext::sign_masks`].
#[inline(always)]
fn signed<T: Word>(value: T, (keep, flip): (u32, u32)) -> T {
    let (low, high) = value.unpack();
    match T::KIND.rows() {
        0 => value,
        1 => T::pack(low & keep ^ flip, high),
        _ => T::pack(low, high & keep ^ flip),
    }
}

/// The body of a [`Lane`] on 32 and 64 bits whose only modifiers are negations and absolute values.
#[inline(always)]
fn lane_signed<H: Host, O: Lane>(wave: &mut Wave, op: &Op) -> Flow {
    let needs = const { needs([O::A::KIND, O::B::KIND, O::C::KIND], O::D::KIND, O::ROUNDS) };
    if wave.plain & needs != needs {
        return lane_slow_versions::portable::<O>(wave, op);
    }
    let (exec, mode) = (wave.exec(), wave.mode());
    if exec != !0 {
        wave.refresh_mask(exec);
    }
    let signs = [0, 1, 2].map(|source| Ext(op.x).sign_masks(source));
    let Parts {
        v,
        spare,
        mask,
        s,
        tmp,
    } = wave.parts();
    let (first, rest) = tmp.split_at_mut(2);
    let (second, third) = rest.split_at_mut(2);
    let sources = [
        as_rows::<O::A>(v, s, first, op.a),
        as_rows::<O::B>(v, s, second, op.b),
        as_rows::<O::C>(v, s, third, op.c),
    ];
    let d = usize::from(op.d);
    let [low, high, ..] = spare;
    let old = [&*v[d & 511], &*v[(d + 1) & 511]];
    active_lanes::<H, O, 0>([low, high], exec, mask, old, sources, Signed(mode, signs));
    std::mem::swap(&mut v[d & 511], low);
    if O::D::KIND.rows() == 2 {
        std::mem::swap(&mut v[(d + 1) & 511], high);
    }
    Flow::Next
}

/// Sources that [`modifiers::fetch`] has prepared.
#[inline(always)]
fn prepared(tmp: &[Box<Row>; 6]) -> [Source<'_>; 3] {
    [0, 2, 4].map(|i| Source {
        low: &tmp[i],
        high: &tmp[i + 1],
        scalar: 0,
    })
}

/// The slow body of [`Lane`].
#[inline(always)]
fn lane_slow<H: Host, O: Lane>(wave: &mut Wave, op: &Op) -> Flow {
    let ext = ext(op);
    let lanes = modifiers::fetch(wave, op, ext, [O::A::KIND, O::B::KIND, O::C::KIND]);
    let mode = wave.mode();
    let nearest = plain::F32_NEAREST | plain::F64_NEAREST;
    let rounds = O::ROUNDS && wave.plain & nearest != nearest;
    let float = O::D::KIND.is_float();
    let Parts { spare, tmp, .. } = wave.parts();
    let [low, high, ..] = spare;
    let sources = prepared(tmp);
    if rounds {
        each_lane::<H, O, 0>(low, high, sources, Rounded(mode));
    } else if ext.clamp() && !float {
        each_lane::<H, O, 0>(low, high, sources, Clamped(mode));
    } else {
        each_lane::<H, O, 0>(low, high, sources, Plain(mode));
    }
    modifiers::store(wave, op, ext, O::D::KIND, lanes);
    Flow::Next
}

/// Set in [`Op::e`] when the payload holds an [`Ext`].
pub(crate) const SHAPED: u16 = 1 << 12;

/// The modifiers of an operation: without any, the payload may hold a literal.
#[inline(always)]
fn ext(op: &Op) -> Ext {
    if op.e & SHAPED != 0 {
        Ext(op.x)
    } else {
        Ext::NONE
    }
}

/// Writes a mask register, and EXEC where told.
#[inline(always)]
fn write_mask(wave: &mut Wave, op: &Op, slot: u16, bits: u64) {
    wave.set_s64(usize::from(slot), bits);
    if op.e & flag::WRITES_EXEC != 0 {
        wave.set_s64(EXEC, bits);
    }
}

/// The loop of a [`Test`]: all bits of a lane that passes, none of another.
#[inline(always)]
fn each_test<O: Test, const K: u8>(bits: &mut Row, [a, b]: [Source<'_>; 2], mode: Mode) {
    for i in 0..64 {
        bits.0[i] = all_ones(O::test(mode, a.lane(i, K & 1 != 0), b.lane(i, K & 2 != 0)));
    }
}

/// The fast body of [`Test`].
#[inline(always)]
fn test_fast<H: Host, O: Test, const K: u8>(wave: &mut Wave, op: &Op) -> Flow {
    let needs = const { needs([O::A::KIND, O::B::KIND, Kind::None], Kind::None, false) };
    if needs != 0 && wave.plain & needs != needs {
        return test_slow_versions::portable::<O>(wave, op);
    }
    if K != 0 {
        wave.set_s64(LITERAL, op.x);
    }
    let (exec, mode) = (wave.exec(), wave.mode());
    let Parts { v, spare, s, .. } = wave.parts();
    let a = Source::new::<O::A>(v, s, op.a, K & 1 != 0);
    let b = Source::new::<O::B>(v, s, op.b, K & 2 != 0);
    let [bits, ..] = spare;
    each_test::<O, K>(bits, [a, b], mode);
    let bits = H::compress(bits) & exec;
    write_mask(wave, op, op.d, bits);
    Flow::Next
}

/// The slow body of [`Test`].
#[inline(always)]
fn test_slow<H: Host, O: Test>(wave: &mut Wave, op: &Op) -> Flow {
    let ext = ext(op);
    let lanes = modifiers::fetch(wave, op, ext, [O::A::KIND, O::B::KIND, Kind::None]);
    let mode = wave.mode();
    let Parts { spare, tmp, .. } = wave.parts();
    let [bits, ..] = spare;
    let [a, b, _] = prepared(tmp);
    each_test::<O, 0>(bits, [a, b], mode);
    let bits = H::compress(bits) & lanes;
    write_mask(wave, op, op.d, bits);
    Flow::Next
}

#[inline(always)]
fn all_ones(bit: bool) -> u32 {
    0u32.wrapping_sub(bit.into())
}

/// The fast body of [`Carry`].
#[inline(always)]
fn carry_fast<H: Host, O: Carry, const K: u8>(wave: &mut Wave, op: &Op) -> Flow {
    let needs = const { needs([O::A::KIND, O::B::KIND, O::C::KIND], O::D::KIND, false) };
    if needs != 0 && wave.plain & needs != needs {
        return carry_slow_versions::portable::<O>(wave, op);
    }
    if K != 0 {
        wave.set_s64(LITERAL, op.x);
    }
    let (exec, mode) = (wave.exec(), wave.mode());
    if exec != !0 {
        wave.refresh_mask(exec);
    }
    let bits_in = if O::IN { wave.s64(usize::from(op.c)) } else { 0 };
    let Parts {
        v,
        spare,
        mask,
        s,
        tmp,
    } = wave.parts();
    let sources = [
        Source::new::<O::A>(v, s, op.a, K & 1 != 0),
        Source::new::<O::B>(v, s, op.b, K & 2 != 0),
        Source::new::<O::C>(v, s, if O::IN { 0 } else { op.c }, K & 4 != 0),
    ];
    let d = usize::from(op.d);
    let [low, high, out, _] = spare;
    let carry = &mut tmp[0];
    if O::IN {
        H::expand(carry, bits_in);
    }
    let out: &mut Row = out;
    carry_lanes::<H, O, K>(low, high, out, mode, carry, sources);
    let bits = if O::OUT { H::compress(out) & exec } else { 0 };
    if exec != !0 {
        super::wave::blend(low, &v[d & 511], mask);
        if O::D::KIND.rows() == 2 {
            super::wave::blend(high, &v[(d + 1) & 511], mask);
        }
    }
    std::mem::swap(&mut v[d & 511], low);
    if O::D::KIND.rows() == 2 {
        std::mem::swap(&mut v[(d + 1) & 511], high);
    }
    if O::OUT {
        wave.set_s64(op.f as usize, bits);
    }
    Flow::Next
}

#[inline(always)]
fn carry_lanes<H: Host, O: Carry, const K: u8>(
    low: &mut Row,
    high: &mut Row,
    out: &mut Row,
    mode: Mode,
    carry: &Row,
    [a, b, c]: [Source<'_>; 3],
) {
    for i in 0..64 {
        let bit = O::IN && carry.0[i] != 0;
        let (a, b, c) = (
            a.lane(i, K & 1 != 0),
            b.lane(i, K & 2 != 0),
            c.lane(i, K & 4 != 0),
        );
        let (result, bit) = O::result::<H>(mode, a, b, c, bit);
        let (lo, hi) = result.unpack();
        low.0[i] = lo;
        if O::D::KIND.rows() == 2 {
            high.0[i] = hi;
        }
        if O::OUT {
            out.0[i] = all_ones(bit);
        }
    }
}

/// The slow body of [`Carry`].
#[inline(always)]
fn carry_slow<H: Host, O: Carry>(wave: &mut Wave, op: &Op) -> Flow {
    let ext = ext(op);
    let kinds = [
        O::A::KIND,
        O::B::KIND,
        if O::IN { Kind::None } else { O::C::KIND },
    ];
    let lanes = modifiers::fetch(wave, op, ext, kinds);
    let mode = wave.mode();
    let bits_in = if O::IN { wave.s64(usize::from(op.c)) } else { 0 };
    let mut carry = Row::ZERO;
    H::expand(&mut carry, bits_in);
    let Parts { spare, tmp, .. } = wave.parts();
    let [low, high, out, _] = spare;
    let sources = prepared(tmp);
    if ext.clamp() && !O::D::KIND.is_float() {
        let [a, b, c] = sources;
        for i in 0..64 {
            let bit = carry.0[i] != 0;
            let (result, bit) = O::clamped(mode, a.lane(i, false), b.lane(i, false), c.lane(i, false), bit);
            (low.0[i], high.0[i]) = result.unpack();
            out.0[i] = all_ones(bit);
        }
    } else {
        carry_lanes::<H, O, 0>(low, high, out, mode, &carry, sources);
    }
    let bits = H::compress(out) & lanes;
    modifiers::store(wave, op, ext, O::D::KIND, lanes);
    if O::OUT {
        wave.set_s64(op.f as usize, bits);
    }
    Flow::Next
}

versions!(lane_fast_versions, lane_fast, [O: Lane, const K: u8], [O, K]);
versions!(lane_slow_versions, lane_slow, [O: Lane], [O]);
versions!(lane_signed_versions, lane_signed, [O: Lane], [O]);
versions!(test_fast_versions, test_fast, [O: Test, const K: u8], [O, K]);
versions!(test_slow_versions, test_slow, [O: Test], [O]);
versions!(carry_fast_versions, carry_fast, [O: Carry, const K: u8], [O, K]);
versions!(carry_slow_versions, carry_slow, [O: Carry], [O]);

/// Operand code of a scalar slot, or `None` for a register row.
pub(crate) fn is_scalar(code: u16) -> bool {
    code >= SCALAR
}
