//! Guarded moves without loops: of a row in quarters of 16 lanes, each with one address, and of one, two or four dwords.
//!
//! Most accesses of most kernels are of these kinds. A quarter is a vector of AVX-512, or two of AVX2. As in
//! [`guard`](super::guard), a routine uses no stack, and returns 0 or the address at which it faulted. Those of AVX-512 use
//! registers that need no clearing afterwards.

use super::guard::{host, outcome, Unmapped};
use super::row::Row;
use std::arch::x86_64::{_mm_prefetch, _MM_HINT_T0};

// The row is aligned, and comes in rdi; the addresses of its quarters come in rsi, rdx, rcx and r8.
std::arch::global_asm!(
    r#"
    .pushsection .text.hansa_sim_straight, "ax", @progbits

    .macro hansa_sim_routine name
    .p2align 4
    .globl hansa_sim_straight_\name
    .hidden hansa_sim_straight_\name
hansa_sim_straight_\name:
    .endm

    // A vector of a quarter, `at` bytes on in it and `on` bytes on in the row
    .macro hansa_sim_load move, aligned, register, from, at, on
    \move \register, [\from + \at]
    \aligned [rdi + \on + \at], \register
    .endm
    .macro hansa_sim_store move, aligned, register, to, at, on
    \aligned \register, [rdi + \on + \at]
    \move [\to + \at], \register
    .endm
    .macro hansa_sim_repeat broadcast, aligned, register, from, on
    \broadcast \register, dword ptr [\from]
    \aligned [rdi + \on], \register
    .endm

    .macro hansa_sim_portable what
    .irp at, 0, 16, 32, 48
    \what movups, movaps, xmm0, rsi, \at, 0
    \what movups, movaps, xmm1, rdx, \at, 64
    \what movups, movaps, xmm2, rcx, \at, 128
    \what movups, movaps, xmm3, r8, \at, 192
    .endr
    xor eax, eax
    ret
    .endm

    .macro hansa_sim_avx2 what
    .irp at, 0, 32
    \what vmovups, vmovaps, ymm0, rsi, \at, 0
    \what vmovups, vmovaps, ymm1, rdx, \at, 64
    \what vmovups, vmovaps, ymm2, rcx, \at, 128
    \what vmovups, vmovaps, ymm3, r8, \at, 192
    .endr
    vzeroupper
    xor eax, eax
    ret
    .endm

    .macro hansa_sim_avx512 what
    \what vmovups, vmovaps, zmm16, rsi, 0, 0
    \what vmovups, vmovaps, zmm17, rdx, 0, 64
    \what vmovups, vmovaps, zmm18, rcx, 0, 128
    \what vmovups, vmovaps, zmm19, r8, 0, 192
    xor eax, eax
    ret
    .endm

    hansa_sim_routine begin

    hansa_sim_routine load_portable
    hansa_sim_portable hansa_sim_load
    hansa_sim_routine store_portable
    hansa_sim_portable hansa_sim_store
    hansa_sim_routine load_avx2
    hansa_sim_avx2 hansa_sim_load
    hansa_sim_routine store_avx2
    hansa_sim_avx2 hansa_sim_store
    hansa_sim_routine load_avx512
    hansa_sim_avx512 hansa_sim_load
    hansa_sim_routine store_avx512
    hansa_sim_avx512 hansa_sim_store

    // repeat: the dword at each address, in all lanes of its quarter
    hansa_sim_routine repeat_portable
    .irp from, rsi, rdx, rcx, r8
    movss xmm0, dword ptr [\from]
    shufps xmm0, xmm0, 0
    .irp at, 0, 16, 32, 48
    movaps [rdi + \at], xmm0
    .endr
    add rdi, 64
    .endr
    xor eax, eax
    ret

    hansa_sim_routine repeat_avx2
    .irp at, 0, 32
    hansa_sim_repeat vbroadcastss, vmovaps, ymm0, rsi, \at
    hansa_sim_repeat vbroadcastss, vmovaps, ymm1, rdx, 64 + \at
    hansa_sim_repeat vbroadcastss, vmovaps, ymm2, rcx, 128 + \at
    hansa_sim_repeat vbroadcastss, vmovaps, ymm3, r8, 192 + \at
    .endr
    vzeroupper
    xor eax, eax
    ret

    hansa_sim_routine repeat_avx512
    hansa_sim_repeat vbroadcastss, vmovaps, zmm16, rsi, 0
    hansa_sim_repeat vbroadcastss, vmovaps, zmm17, rdx, 64
    hansa_sim_repeat vbroadcastss, vmovaps, zmm18, rcx, 128
    hansa_sim_repeat vbroadcastss, vmovaps, zmm19, r8, 192
    xor eax, eax
    ret

    // dwords1, dwords2, dwords4(to, from)
    hansa_sim_routine dwords1
    mov eax, [rsi]
    mov [rdi], eax
    xor eax, eax
    ret

    hansa_sim_routine dwords2
    mov rax, [rsi]
    mov [rdi], rax
    xor eax, eax
    ret

    hansa_sim_routine dwords4
    movups xmm0, [rsi]
    movups [rdi], xmm0
    xor eax, eax
    ret

    hansa_sim_routine end
    .popsection
"#
);

/// A routine for the quarters of a row.
type Quarters = unsafe extern "C" fn(*mut u32, u64, u64, u64, u64) -> u64;

macro_rules! quarters {
    ($($name:ident)*) => {
        unsafe extern "C" {
            $(fn $name(row: *mut u32, first: u64, second: u64, third: u64, fourth: u64) -> u64;)*
        }
    };
}

quarters! {
    hansa_sim_straight_load_portable hansa_sim_straight_load_avx2 hansa_sim_straight_load_avx512
    hansa_sim_straight_repeat_portable hansa_sim_straight_repeat_avx2 hansa_sim_straight_repeat_avx512
    hansa_sim_straight_store_portable hansa_sim_straight_store_avx2 hansa_sim_straight_store_avx512
}

unsafe extern "C" {
    fn hansa_sim_straight_begin();
    fn hansa_sim_straight_dwords1(to: *mut u32, from: u64) -> u64;
    fn hansa_sim_straight_dwords2(to: *mut u32, from: u64) -> u64;
    fn hansa_sim_straight_dwords4(to: *mut u32, from: u64) -> u64;
    fn hansa_sim_straight_end();
}

/// Whether an instruction is one of these routines'.
pub(super) fn contain(pc: usize) -> bool {
    let begin = hansa_sim_straight_begin as *const () as usize;
    (begin..hansa_sim_straight_end as *const () as usize).contains(&pc)
}

/// The routines of a level.
pub(crate) struct Routines {
    load: Quarters,
    repeat: Quarters,
    store: Quarters,
}

/// Routines for every host.
pub(crate) const PORTABLE: Routines = Routines {
    load: hansa_sim_straight_load_portable,
    repeat: hansa_sim_straight_repeat_portable,
    store: hansa_sim_straight_store_portable,
};
/// Routines for hosts with AVX2.
pub(crate) const AVX2: Routines = Routines {
    load: hansa_sim_straight_load_avx2,
    repeat: hansa_sim_straight_repeat_avx2,
    store: hansa_sim_straight_store_avx2,
};
/// Routines for hosts with AVX-512.
pub(crate) const AVX512: Routines = Routines {
    load: hansa_sim_straight_load_avx512,
    repeat: hansa_sim_straight_repeat_avx512,
    store: hansa_sim_straight_store_avx512,
};

impl Routines {
    /// Fills a row with a quarter from each address.
    #[inline(always)]
    pub(crate) fn load(&self, row: &mut Row, at: [u64; 4]) -> Result<(), Unmapped> {
        let [a, b, c, d] = at.map(host);
        // SAFETY: rows are aligned for the widest vectors, and have four quarters. The device may read there, or it faults,
        // which becomes an error. Only handlers of a level use its routines.
        outcome(unsafe { (self.load)(row.0.as_mut_ptr(), a, b, c, d) })
    }

    /// Fills each quarter of a row with the dword at its address.
    #[inline(always)]
    pub(crate) fn repeat(&self, row: &mut Row, at: [u64; 4]) -> Result<(), Unmapped> {
        let [a, b, c, d] = at.map(host);
        // SAFETY: as in [`Routines::load`].
        outcome(unsafe { (self.repeat)(row.0.as_mut_ptr(), a, b, c, d) })
    }

    /// Stores each quarter of a row at its address. The caller has established that the device may write there.
    #[inline(always)]
    pub(crate) fn store(&self, row: &Row, at: [u64; 4]) -> Result<(), Unmapped> {
        let [a, b, c, d] = at.map(host);
        // SAFETY: as in [`Routines::load`]; these only read the row.
        outcome(unsafe { (self.store)(row.0.as_ptr().cast_mut(), a, b, c, d) })
    }
}

/// Copies one, two or four dwords of foreign memory.
#[inline(always)]
pub(crate) fn read<const N: usize>(to: &mut [u32; N], from: u64) -> Result<(), Unmapped> {
    let routine = const {
        match N {
            1 => hansa_sim_straight_dwords1,
            2 => hansa_sim_straight_dwords2,
            4 => hansa_sim_straight_dwords4 as unsafe extern "C" fn(*mut u32, u64) -> u64,
            _ => panic!("no routine moves so many dwords"),
        }
    };
    // SAFETY: the routine writes as many dwords as `to` has; a fault at `from` becomes an error.
    outcome(unsafe { routine(to.as_mut_ptr(), host(from)) })
}

/// How far ahead of a row the host is asked for memory: a few waves.
pub(crate) const AHEAD: u64 = 512;

/// Tells the host that what lies so far after a row will be wanted: work-groups come in the order of their numbers, and
/// the lanes of the next waves begin where this wave's end. What is not there does no harm.
#[inline(always)]
pub(crate) fn expect_after(row: u64, ahead: u64) {
    for line in 0..4 {
        let place = host(row).wrapping_add(ahead + 64 * line) as *const i8;
        // SAFETY: a prefetch accesses nothing as far as a program can tell, and every x86-64 has it.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(place) };
    }
}

#[cfg(test)]
mod tests {
    use super::super::guard::{install, OWN};
    use super::super::level::Level;
    use super::*;

    const QUARTER: usize = 16;

    #[test]
    fn quarters_move_and_faults_are_errors() {
        install().expect("handler");
        let memory: Vec<u32> = (0..1000).collect();
        let at = [400, 1, 213, 77];
        let addresses = at.map(|index: usize| (&raw const memory[index]) as u64 | OWN);
        for (level, routines) in [PORTABLE, AVX2, AVX512].iter().enumerate() {
            if level > Level::detected() as usize {
                continue;
            }
            let mut row = Row::ZERO;
            assert_eq!(routines.load(&mut row, addresses), Ok(()));
            let expected: [u32; 64] = std::array::from_fn(|lane| memory[at[lane / QUARTER] + lane % QUARTER]);
            assert_eq!(row.0, expected);
            let mut copy = vec![0u32; 1000];
            let places = at.map(|index| (&raw mut copy[index]) as u64);
            assert_eq!(routines.store(&row, places), Ok(()));
            for (quarter, index) in at.into_iter().enumerate() {
                assert_eq!(
                    copy[index..index + QUARTER],
                    expected[QUARTER * quarter..][..QUARTER]
                );
            }
            assert_eq!(copy.iter().filter(|value| **value != 0).count(), 64);
            assert_eq!(routines.repeat(&mut row, addresses), Ok(()));
            let expected: [u32; 64] = std::array::from_fn(|lane| memory[at[lane / QUARTER]]);
            assert_eq!(row.0, expected);
            for wrong in 0..4 {
                let mut addresses = addresses;
                addresses[wrong] = 16;
                assert_eq!(routines.load(&mut row, addresses), Err(Unmapped(16)));
                assert_eq!(routines.repeat(&mut row, addresses), Err(Unmapped(16)));
                let mut places = places;
                places[wrong] = 16;
                assert_eq!(routines.store(&row, places), Err(Unmapped(16)));
            }
        }
    }

    #[test]
    fn few_dwords_are_read_and_no_more() {
        fn reads<const N: usize>() {
            let memory: [u32; 8] = std::array::from_fn(|i| 10 + i as u32);
            let mut place = [[7; N]; 2];
            assert_eq!(read(&mut place[0], memory.as_ptr() as u64 | OWN), Ok(()));
            assert_eq!(place[0][..], memory[..N]);
            assert_eq!(place[1], [7; N]);
            assert_eq!(read(&mut place[0], 16), Err(Unmapped(16)));
        }
        install().expect("handler");
        reads::<1>();
        reads::<2>();
        reads::<4>();
    }
}
