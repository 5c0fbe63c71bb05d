//! Semantics of the scalar arithmetic families SOP1, SOP2, SOPC and SOPK.
//!
//! Operands are scalar slots; a literal is put into its slot first, so that it reads like a register.

use super::op::{Flow, Handler, Op};
use super::slot::{is_ttmp, EXEC, LITERAL, M0};
use super::vop1::{first_high, first_low};
use super::wave::Wave;

/// A scalar operation: mnemonic and handler.
pub(crate) type Scalar = (&'static str, Handler);

/// Slot of an operand code.
#[inline(always)]
pub(crate) fn slot(code: u16) -> usize {
    usize::from(code) & 511
}

/// How scalar operand and result types sit in slots.
trait Value: Copy {
    fn read(wave: &Wave, code: u16) -> Self;
    fn write(self, wave: &mut Wave, code: u16);
}

impl Value for u32 {
    #[inline(always)]
    fn read(wave: &Wave, code: u16) -> Self {
        wave.s[slot(code)]
    }
    #[inline(always)]
    fn write(self, wave: &mut Wave, code: u16) {
        wave.s[slot(code)] = self;
    }
}

impl Value for i32 {
    #[inline(always)]
    fn read(wave: &Wave, code: u16) -> Self {
        wave.s[slot(code)] as Self
    }
    #[inline(always)]
    fn write(self, wave: &mut Wave, code: u16) {
        wave.s[slot(code)] = self as u32;
    }
}

impl Value for u64 {
    #[inline(always)]
    fn read(wave: &Wave, code: u16) -> Self {
        wave.s64(slot(code))
    }
    #[inline(always)]
    fn write(self, wave: &mut Wave, code: u16) {
        wave.set_s64(slot(code), self);
    }
}

impl Value for i64 {
    #[inline(always)]
    fn read(wave: &Wave, code: u16) -> Self {
        wave.s64(slot(code)) as Self
    }
    #[inline(always)]
    fn write(self, wave: &mut Wave, code: u16) {
        wave.set_s64(slot(code), self as u64);
    }
}

/// A row: `name, |wave, a: type, ..| -> type { .. }`; the closure may set `wave.scc`.
macro_rules! scalar {
    ($name:literal, |$w:ident $(, $a:ident: $ta:ty $(, $b:ident: $tb:ty)?)?| -> $d:ty $body:block) => {
        ($name, |$w: &mut Wave, op: &Op| {
            $w.set_s64(LITERAL, op.x);
            $(let $a = <$ta as Value>::read($w, op.a); $(let $b = <$tb as Value>::read($w, op.b);)?)?
            let result: $d = $body;
            result.write($w, op.d);
            Flow::Next
        })
    };
}

/// A row whose result also says whether it is not zero, in SCC.
macro_rules! logic {
    ($name:literal, |$a:ident: $ta:ty $(, $b:ident: $tb:ty)?| -> $d:ty $body:block) => {
        scalar!($name, |w, $a: $ta $(, $b: $tb)?| -> $d { let r: $d = $body; w.scc = r != 0; r })
    };
}

/// A row that sets SCC only.
macro_rules! compare {
    ($name:literal, |$a:ident: $ta:ty, $b:ident: $tb:ty| $body:expr) => {
        ($name, |w: &mut Wave, op: &Op| {
            w.set_s64(LITERAL, op.x);
            let $a = <$ta as Value>::read(w, op.a);
            let $b = <$tb as Value>::read(w, op.b);
            w.scc = $body;
            Flow::Next
        })
    };
}

/// A row that combines EXEC with the source, and returns the old EXEC.
macro_rules! save_exec {
    ($name:literal, |$s:ident, $exec:ident| $body:expr) => {
        scalar!($name, |w, $s: u64| -> u64 {
            let $exec = w.exec();
            let new: u64 = $body;
            w.set_s64(EXEC, new);
            w.scc = new != 0;
            $exec
        })
    };
}

/// A row that combines EXEC with the source into both EXEC and the destination.
macro_rules! write_exec {
    ($name:literal, |$s:ident, $exec:ident| $body:expr) => {
        scalar!($name, |w, $s: u64| -> u64 {
            let $exec = w.exec();
            let new: u64 = $body;
            w.set_s64(EXEC, new);
            w.scc = new != 0;
            new
        })
    };
}

/// A SOPK row: source 0 is the old destination, the immediate is the payload.
macro_rules! with_immediate {
    ($name:literal, |$w:ident, $a:ident: $ta:ty, $k:ident: $tk:ty| $body:block) => {
        ($name, |$w: &mut Wave, op: &Op| {
            let $a = <$ta as Value>::read($w, op.a);
            #[allow(trivial_numeric_casts, reason = "Some rows want the bits as they are")]
            let $k = op.f as $tk;
            $body
            Flow::Next
        })
    };
}

/// A SOPK row that writes the destination.
macro_rules! immediate {
    ($name:literal, |$w:ident, $a:ident: $ta:ty, $k:ident: $tk:ty| -> $d:ty $body:block) => {
        ($name, |$w: &mut Wave, op: &Op| {
            let $a = <$ta as Value>::read($w, op.a);
            #[allow(trivial_numeric_casts, reason = "Some rows want the bits as they are")]
            let $k = op.f as $tk;
            let result: $d = $body;
            result.write($w, op.d);
            Flow::Next
        })
    };
}

/// The bits of whole quads that have any bit set.
fn whole_quads(bits: u64) -> u64 {
    let any = quad_any(bits);
    any | any << 1 | any << 2 | any << 3
}

/// The lowest bit of each quad that has any bit set.
fn quad_any(bits: u64) -> u64 {
    (bits | bits >> 1 | bits >> 2 | bits >> 3) & 0x1111_1111_1111_1111
}

/// One bit per quad: whether it has any bit set.
fn quad_mask(bits: u64) -> u64 {
    let any = quad_any(bits);
    (0..16).fold(0, |mask, quad| mask | (any >> (4 * quad) & 1) << quad)
}

/// Every bit twice.
fn doubled_bits(bits: u32) -> u64 {
    (0..32).fold(0, |wide, bit| {
        wide | (u64::from(bits >> bit & 1) * 3) << (2 * bit)
    })
}

fn first_low64(bits: u64) -> u32 {
    if bits == 0 {
        u32::MAX
    } else {
        bits.trailing_zeros()
    }
}

fn first_high64(bits: u64) -> u32 {
    if bits == 0 {
        u32::MAX
    } else {
        bits.leading_zeros()
    }
}

/// Offset and width of a scalar bit field operand.
fn field(selector: u32, width_mask: u32) -> (u32, u32) {
    (selector & width_mask >> 1, selector >> 16 & width_mask)
}

fn bits_below(width: u32) -> u64 {
    if width >= 64 {
        u64::MAX
    } else {
        (1 << width) - 1
    }
}

/// An unsigned bit field of up to 64 bits.
fn extract(value: u64, offset: u32, width: u32) -> u64 {
    (value >> offset) & bits_below(width)
}

/// A signed bit field of a value with `size` bits.
fn extract_signed(value: i64, offset: u32, width: u32, size: u32) -> i64 {
    if width == 0 {
        return 0;
    }
    let field = value >> offset;
    let width = width.min(size);
    if width >= 64 {
        field
    } else {
        field << (64 - width) >> (64 - width)
    }
}

/// Overflow of a signed addition whose result is `sum`.
fn add_overflows(a: u32, b: u32, sum: u32) -> bool {
    ((a ^ sum) & (b ^ sum)) >> 31 != 0
}

pub(crate) static SOP2: &[Scalar] = &[
    scalar!("s_add_u32", |w, a: u32, b: u32| -> u32 {
        let (r, c) = a.overflowing_add(b);
        w.scc = c;
        r
    }),
    scalar!("s_sub_u32", |w, a: u32, b: u32| -> u32 {
        let (r, c) = a.overflowing_sub(b);
        w.scc = c;
        r
    }),
    scalar!("s_add_i32", |w, a: u32, b: u32| -> u32 {
        let r = a.wrapping_add(b);
        w.scc = add_overflows(a, b, r);
        r
    }),
    scalar!("s_sub_i32", |w, a: u32, b: u32| -> u32 {
        let r = a.wrapping_sub(b);
        w.scc = ((a ^ b) & (a ^ r)) >> 31 != 0;
        r
    }),
    scalar!("s_addc_u32", |w, a: u32, b: u32| -> u32 {
        let sum = u64::from(a) + u64::from(b) + u64::from(w.scc);
        w.scc = sum >> 32 != 0;
        sum as u32
    }),
    scalar!("s_subb_u32", |w, a: u32, b: u32| -> u32 {
        let carry = u64::from(b) + u64::from(w.scc);
        w.scc = u64::from(a) < carry;
        u64::from(a).wrapping_sub(carry) as u32
    }),
    scalar!("s_min_i32", |w, a: i32, b: i32| -> i32 {
        w.scc = a < b;
        a.min(b)
    }),
    scalar!("s_min_u32", |w, a: u32, b: u32| -> u32 {
        w.scc = a < b;
        a.min(b)
    }),
    scalar!("s_max_i32", |w, a: i32, b: i32| -> i32 {
        w.scc = a > b;
        a.max(b)
    }),
    scalar!("s_max_u32", |w, a: u32, b: u32| -> u32 {
        w.scc = a > b;
        a.max(b)
    }),
    scalar!("s_cselect_b32", |w, a: u32, b: u32| -> u32 {
        if w.scc {
            a
        } else {
            b
        }
    }),
    scalar!("s_cselect_b64", |w, a: u64, b: u64| -> u64 {
        if w.scc {
            a
        } else {
            b
        }
    }),
    logic!("s_and_b32", |a: u32, b: u32| -> u32 { a & b }),
    logic!("s_and_b64", |a: u64, b: u64| -> u64 { a & b }),
    logic!("s_or_b32", |a: u32, b: u32| -> u32 { a | b }),
    logic!("s_or_b64", |a: u64, b: u64| -> u64 { a | b }),
    logic!("s_xor_b32", |a: u32, b: u32| -> u32 { a ^ b }),
    logic!("s_xor_b64", |a: u64, b: u64| -> u64 { a ^ b }),
    logic!("s_andn2_b32", |a: u32, b: u32| -> u32 { a & !b }),
    logic!("s_andn2_b64", |a: u64, b: u64| -> u64 { a & !b }),
    logic!("s_orn2_b32", |a: u32, b: u32| -> u32 { a | !b }),
    logic!("s_orn2_b64", |a: u64, b: u64| -> u64 { a | !b }),
    logic!("s_nand_b32", |a: u32, b: u32| -> u32 { !(a & b) }),
    logic!("s_nand_b64", |a: u64, b: u64| -> u64 { !(a & b) }),
    logic!("s_nor_b32", |a: u32, b: u32| -> u32 { !(a | b) }),
    logic!("s_nor_b64", |a: u64, b: u64| -> u64 { !(a | b) }),
    logic!("s_xnor_b32", |a: u32, b: u32| -> u32 { !(a ^ b) }),
    logic!("s_xnor_b64", |a: u64, b: u64| -> u64 { !(a ^ b) }),
    logic!("s_lshl_b32", |a: u32, b: u32| -> u32 { a << (b & 31) }),
    logic!("s_lshl_b64", |a: u64, b: u32| -> u64 { a << (b & 63) }),
    logic!("s_lshr_b32", |a: u32, b: u32| -> u32 { a >> (b & 31) }),
    logic!("s_lshr_b64", |a: u64, b: u32| -> u64 { a >> (b & 63) }),
    logic!("s_ashr_i32", |a: i32, b: u32| -> i32 { a >> (b & 31) }),
    logic!("s_ashr_i64", |a: i64, b: u32| -> i64 { a >> (b & 63) }),
    scalar!("s_bfm_b32", |w, a: u32, b: u32| -> u32 {
        (bits_below(a & 31) << (b & 31)) as u32
    }),
    scalar!("s_bfm_b64", |w, a: u32, b: u32| -> u64 {
        bits_below(a & 63) << (b & 63)
    }),
    scalar!("s_mul_i32", |w, a: u32, b: u32| -> u32 { a.wrapping_mul(b) }),
    logic!("s_bfe_u32", |a: u32, b: u32| -> u32 {
        let (o, n) = field(b, 0x7f);
        extract(a.into(), o & 31, n) as u32
    }),
    logic!("s_bfe_i32", |a: i32, b: u32| -> i32 {
        let (o, n) = field(b, 0x7f);
        extract_signed(a.into(), o & 31, n, 32) as i32
    }),
    logic!("s_bfe_u64", |a: u64, b: u32| -> u64 {
        let (o, n) = field(b, 0x7f);
        extract(a, o, n)
    }),
    logic!("s_bfe_i64", |a: i64, b: u32| -> i64 {
        let (o, n) = field(b, 0x7f);
        extract_signed(a, o, n, 64)
    }),
    logic!("s_absdiff_i32", |a: i32, b: i32| -> u32 {
        a.wrapping_sub(b).unsigned_abs()
    }),
    scalar!("s_mul_hi_u32", |w, a: u32, b: u32| -> u32 {
        ((u64::from(a) * u64::from(b)) >> 32) as u32
    }),
    scalar!("s_mul_hi_i32", |w, a: i32, b: i32| -> i32 {
        ((i64::from(a) * i64::from(b)) >> 32) as i32
    }),
    scalar!("s_lshl1_add_u32", |w, a: u32, b: u32| -> u32 {
        shifted_add(w, a, b, 1)
    }),
    scalar!("s_lshl2_add_u32", |w, a: u32, b: u32| -> u32 {
        shifted_add(w, a, b, 2)
    }),
    scalar!("s_lshl3_add_u32", |w, a: u32, b: u32| -> u32 {
        shifted_add(w, a, b, 3)
    }),
    scalar!("s_lshl4_add_u32", |w, a: u32, b: u32| -> u32 {
        shifted_add(w, a, b, 4)
    }),
    scalar!("s_pack_ll_b32_b16", |w, a: u32, b: u32| -> u32 {
        a & 0xffff | b << 16
    }),
    scalar!("s_pack_lh_b32_b16", |w, a: u32, b: u32| -> u32 {
        a & 0xffff | b & 0xffff_0000
    }),
    scalar!("s_pack_hh_b32_b16", |w, a: u32, b: u32| -> u32 {
        a >> 16 | b & 0xffff_0000
    }),
];

fn shifted_add(wave: &mut Wave, a: u32, b: u32, shift: u32) -> u32 {
    let sum = (u64::from(a) << shift) + u64::from(b);
    wave.scc = sum >> 32 != 0;
    sum as u32
}

pub(crate) static SOP1: &[Scalar] = &[
    scalar!("s_mov_b32", |w, a: u32| -> u32 { a }),
    scalar!("s_mov_b64", |w, a: u64| -> u64 { a }),
    ("s_cmov_b32", |w, op| {
        w.set_s64(LITERAL, op.x);
        if w.scc {
            u32::read(w, op.a).write(w, op.d);
        }
        Flow::Next
    }),
    ("s_cmov_b64", |w, op| {
        w.set_s64(LITERAL, op.x);
        if w.scc {
            u64::read(w, op.a).write(w, op.d);
        }
        Flow::Next
    }),
    logic!("s_not_b32", |a: u32| -> u32 { !a }),
    logic!("s_not_b64", |a: u64| -> u64 { !a }),
    logic!("s_wqm_b32", |a: u32| -> u32 { whole_quads(a.into()) as u32 }),
    logic!("s_wqm_b64", |a: u64| -> u64 { whole_quads(a) }),
    scalar!("s_brev_b32", |w, a: u32| -> u32 { a.reverse_bits() }),
    scalar!("s_brev_b64", |w, a: u64| -> u64 { a.reverse_bits() }),
    logic!("s_bcnt0_i32_b32", |a: u32| -> u32 { a.count_zeros() }),
    logic!("s_bcnt0_i32_b64", |a: u64| -> u32 { a.count_zeros() }),
    logic!("s_bcnt1_i32_b32", |a: u32| -> u32 { a.count_ones() }),
    logic!("s_bcnt1_i32_b64", |a: u64| -> u32 { a.count_ones() }),
    scalar!("s_ff0_i32_b32", |w, a: u32| -> u32 { first_low(!a) }),
    scalar!("s_ff0_i32_b64", |w, a: u64| -> u32 { first_low64(!a) }),
    scalar!("s_ff1_i32_b32", |w, a: u32| -> u32 { first_low(a) }),
    scalar!("s_ff1_i32_b64", |w, a: u64| -> u32 { first_low64(a) }),
    scalar!("s_flbit_i32_b32", |w, a: u32| -> u32 { first_high(a) }),
    scalar!("s_flbit_i32_b64", |w, a: u64| -> u32 { first_high64(a) }),
    scalar!("s_flbit_i32", |w, a: i32| -> u32 {
        first_high((a ^ (a >> 31)) as u32)
    }),
    scalar!("s_flbit_i32_i64", |w, a: i64| -> u32 {
        first_high64((a ^ (a >> 63)) as u64)
    }),
    scalar!("s_sext_i32_i8", |w, a: i32| -> i32 { i32::from(a as i8) }),
    scalar!("s_sext_i32_i16", |w, a: i32| -> i32 { i32::from(a as i16) }),
    ("s_bitset0_b32", |w, op| {
        w.set_s64(LITERAL, op.x);
        let bit = 1 << (u32::read(w, op.a) & 31);
        w.s[slot(op.d)] &= !bit;
        Flow::Next
    }),
    ("s_bitset0_b64", |w, op| {
        w.set_s64(LITERAL, op.x);
        let bit = 1u64 << (u32::read(w, op.a) & 63);
        (u64::read(w, op.d) & !bit).write(w, op.d);
        Flow::Next
    }),
    ("s_bitset1_b32", |w, op| {
        w.set_s64(LITERAL, op.x);
        let bit = 1 << (u32::read(w, op.a) & 31);
        w.s[slot(op.d)] |= bit;
        Flow::Next
    }),
    ("s_bitset1_b64", |w, op| {
        w.set_s64(LITERAL, op.x);
        let bit = 1u64 << (u32::read(w, op.a) & 63);
        (u64::read(w, op.d) | bit).write(w, op.d);
        Flow::Next
    }),
    save_exec!("s_and_saveexec_b64", |s, exec| s & exec),
    save_exec!("s_or_saveexec_b64", |s, exec| s | exec),
    save_exec!("s_xor_saveexec_b64", |s, exec| s ^ exec),
    save_exec!("s_andn2_saveexec_b64", |s, exec| s & !exec),
    save_exec!("s_orn2_saveexec_b64", |s, exec| s | !exec),
    save_exec!("s_nand_saveexec_b64", |s, exec| !(s & exec)),
    save_exec!("s_nor_saveexec_b64", |s, exec| !(s | exec)),
    save_exec!("s_xnor_saveexec_b64", |s, exec| !(s ^ exec)),
    save_exec!("s_andn1_saveexec_b64", |s, exec| !s & exec),
    save_exec!("s_orn1_saveexec_b64", |s, exec| !s | exec),
    write_exec!("s_andn1_wrexec_b64", |s, exec| !s & exec),
    write_exec!("s_andn2_wrexec_b64", |s, exec| s & !exec),
    logic!("s_quadmask_b32", |a: u32| -> u32 { quad_mask(a.into()) as u32 }),
    logic!("s_quadmask_b64", |a: u64| -> u64 { quad_mask(a) }),
    ("s_movrels_b32", |w, op| {
        let from = op.a + (w.s[M0] & 127) as u16;
        u32::read(w, from).write(w, op.d);
        Flow::Next
    }),
    ("s_movrels_b64", |w, op| {
        let from = op.a + (w.s[M0] & 127) as u16;
        u64::read(w, from).write(w, op.d);
        Flow::Next
    }),
    ("s_movreld_b32", |w, op| {
        w.set_s64(LITERAL, op.x);
        let value = u32::read(w, op.a);
        let to = slot(op.d) + (w.s[M0] & 127) as usize;
        if to < 128 && !is_ttmp(to) {
            w.s[to] = value;
        }
        Flow::Next
    }),
    ("s_movreld_b64", |w, op| {
        w.set_s64(LITERAL, op.x);
        let value = u64::read(w, op.a);
        let to = slot(op.d) + (w.s[M0] & 127) as usize;
        if to < 127 && !is_ttmp(to) {
            w.set_s64(to, value);
        }
        Flow::Next
    }),
    logic!("s_abs_i32", |a: i32| -> u32 { a.unsigned_abs() }),
    scalar!("s_bitreplicate_b64_b32", |w, a: u32| -> u64 { doubled_bits(a) }),
];

pub(crate) static SOPC: &[Scalar] = &[
    compare!("s_cmp_eq_i32", |a: u32, b: u32| a == b),
    compare!("s_cmp_lg_i32", |a: u32, b: u32| a != b),
    compare!("s_cmp_gt_i32", |a: i32, b: i32| a > b),
    compare!("s_cmp_ge_i32", |a: i32, b: i32| a >= b),
    compare!("s_cmp_lt_i32", |a: i32, b: i32| a < b),
    compare!("s_cmp_le_i32", |a: i32, b: i32| a <= b),
    compare!("s_cmp_eq_u32", |a: u32, b: u32| a == b),
    compare!("s_cmp_lg_u32", |a: u32, b: u32| a != b),
    compare!("s_cmp_gt_u32", |a: u32, b: u32| a > b),
    compare!("s_cmp_ge_u32", |a: u32, b: u32| a >= b),
    compare!("s_cmp_lt_u32", |a: u32, b: u32| a < b),
    compare!("s_cmp_le_u32", |a: u32, b: u32| a <= b),
    compare!("s_bitcmp0_b32", |a: u32, b: u32| a >> (b & 31) & 1 == 0),
    compare!("s_bitcmp1_b32", |a: u32, b: u32| a >> (b & 31) & 1 != 0),
    compare!("s_bitcmp0_b64", |a: u64, b: u32| a >> (b & 63) & 1 == 0),
    compare!("s_bitcmp1_b64", |a: u64, b: u32| a >> (b & 63) & 1 != 0),
    compare!("s_cmp_eq_u64", |a: u64, b: u64| a == b),
    compare!("s_cmp_lg_u64", |a: u64, b: u64| a != b),
];

pub(crate) static SOPK: &[Scalar] = &[
    immediate!("s_movk_i32", |w, _a: i32, k: i32| -> i32 { k }),
    with_immediate!("s_cmpk_eq_i32", |w, a: i32, k: i32| {
        w.scc = a == k;
    }),
    with_immediate!("s_cmpk_lg_i32", |w, a: i32, k: i32| {
        w.scc = a != k;
    }),
    with_immediate!("s_cmpk_gt_i32", |w, a: i32, k: i32| {
        w.scc = a > k;
    }),
    with_immediate!("s_cmpk_ge_i32", |w, a: i32, k: i32| {
        w.scc = a >= k;
    }),
    with_immediate!("s_cmpk_lt_i32", |w, a: i32, k: i32| {
        w.scc = a < k;
    }),
    with_immediate!("s_cmpk_le_i32", |w, a: i32, k: i32| {
        w.scc = a <= k;
    }),
    with_immediate!("s_cmpk_eq_u32", |w, a: u32, k: u32| {
        w.scc = a == k & 0xffff;
    }),
    with_immediate!("s_cmpk_lg_u32", |w, a: u32, k: u32| {
        w.scc = a != k & 0xffff;
    }),
    with_immediate!("s_cmpk_gt_u32", |w, a: u32, k: u32| {
        w.scc = a > k & 0xffff;
    }),
    with_immediate!("s_cmpk_ge_u32", |w, a: u32, k: u32| {
        w.scc = a >= k & 0xffff;
    }),
    with_immediate!("s_cmpk_lt_u32", |w, a: u32, k: u32| {
        w.scc = a < k & 0xffff;
    }),
    with_immediate!("s_cmpk_le_u32", |w, a: u32, k: u32| {
        w.scc = a <= k & 0xffff;
    }),
    immediate!("s_addk_i32", |w, a: u32, k: u32| -> u32 {
        let r = a.wrapping_add(k);
        w.scc = add_overflows(a, k, r);
        r
    }),
    immediate!("s_mulk_i32", |w, a: u32, k: u32| -> u32 { a.wrapping_mul(k) }),
    ("s_cmovk_i32", |w, op| {
        if w.scc {
            op.f.write(w, op.d);
        }
        Flow::Next
    }),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quads_and_bit_doubling() {
        assert_eq!(whole_quads(0x8000_0000_0000_0102), 0xf000_0000_0000_0f0f);
        assert_eq!(quad_mask(0x8000_0000_0000_0102), 0x8005);
        assert_eq!(doubled_bits(0x8000_0005), 0xc000_0000_0000_0033);
    }

    #[test]
    fn scalar_bit_fields() {
        assert_eq!(extract(0xabcd, 4, 8), 0xbc);
        assert_eq!(extract_signed(0xabcd, 12, 4, 32), -6);
        assert_eq!(extract_signed(-1, 3, 0, 32), 0);
        assert_eq!(extract_signed(i64::MIN, 63, 1, 64), -1);
        assert_eq!(bits_below(64), u64::MAX);
        assert_eq!(field(0x0010_0005, 0x7f), (5, 16));
    }

    #[test]
    fn signed_overflow_is_seen() {
        assert!(add_overflows(0x7fff_ffff, 1, 0x8000_0000));
        assert!(!add_overflows(!0, 1, 0));
    }
}
