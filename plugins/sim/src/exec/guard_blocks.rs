//! Guarded moves of whole parts of a row: blocks of 4 or 8 lanes, each with one address.
//!
//! The widest vectors of the host move a block in one instruction, and what reads the row afterwards finds it written
//! in pieces as large as it reads. As in [`guard`](super::guard), a routine uses no stack, and returns 0 or the address
//! at which it faulted.

use super::guard::{host, outcome, Unmapped};
use super::row::Row;

// Every routine goes through `count` addresses, one at least; the row is aligned.
std::arch::global_asm!(
    r#"
    .pushsection .text.hansa_sim_blocks, "ax", @progbits
    .p2align 4
    .globl hansa_sim_blocks_begin
    .hidden hansa_sim_blocks_begin
hansa_sim_blocks_begin:

    // load(row, addresses, count): a block from each address
    .globl hansa_sim_blocks_load4
    .hidden hansa_sim_blocks_load4
hansa_sim_blocks_load4:
1:  mov rax, [rsi]
    movups xmm0, [rax]
    movaps [rdi], xmm0
    add rsi, 8
    add rdi, 16
    dec rdx
    jnz 1b
    xor eax, eax
    ret

    .p2align 4
    .globl hansa_sim_blocks_load8
    .hidden hansa_sim_blocks_load8
hansa_sim_blocks_load8:
1:  mov rax, [rsi]
    vmovups ymm0, [rax]
    vmovaps [rdi], ymm0
    add rsi, 8
    add rdi, 32
    dec rdx
    jnz 1b
    vzeroupper
    xor eax, eax
    ret

    // repeat(row, addresses, count): the dword at each address, in all lanes of the block
    .p2align 4
    .globl hansa_sim_blocks_repeat4
    .hidden hansa_sim_blocks_repeat4
hansa_sim_blocks_repeat4:
1:  mov rax, [rsi]
    movss xmm0, [rax]
    shufps xmm0, xmm0, 0
    movaps [rdi], xmm0
    add rsi, 8
    add rdi, 16
    dec rdx
    jnz 1b
    xor eax, eax
    ret

    .p2align 4
    .globl hansa_sim_blocks_repeat8
    .hidden hansa_sim_blocks_repeat8
hansa_sim_blocks_repeat8:
1:  mov rax, [rsi]
    vbroadcastss ymm0, [rax]
    vmovaps [rdi], ymm0
    add rsi, 8
    add rdi, 32
    dec rdx
    jnz 1b
    vzeroupper
    xor eax, eax
    ret

    // store(row, addresses, count): a block to each address
    .p2align 4
    .globl hansa_sim_blocks_store4
    .hidden hansa_sim_blocks_store4
hansa_sim_blocks_store4:
1:  mov rax, [rsi]
    movaps xmm0, [rdi]
    movups [rax], xmm0
    add rsi, 8
    add rdi, 16
    dec rdx
    jnz 1b
    xor eax, eax
    ret

    .p2align 4
    .globl hansa_sim_blocks_store8
    .hidden hansa_sim_blocks_store8
hansa_sim_blocks_store8:
1:  mov rax, [rsi]
    vmovaps ymm0, [rdi]
    vmovups [rax], ymm0
    add rsi, 8
    add rdi, 32
    dec rdx
    jnz 1b
    vzeroupper
    xor eax, eax
    ret

    .globl hansa_sim_blocks_end
    .hidden hansa_sim_blocks_end
hansa_sim_blocks_end:
    .popsection
"#
);

/// A routine.
type Routine = unsafe extern "C" fn(*mut u32, *const u64, usize) -> u64;

unsafe extern "C" {
    fn hansa_sim_blocks_begin();
    fn hansa_sim_blocks_load4(row: *mut u32, addresses: *const u64, count: usize) -> u64;
    fn hansa_sim_blocks_load8(row: *mut u32, addresses: *const u64, count: usize) -> u64;
    fn hansa_sim_blocks_repeat4(row: *mut u32, addresses: *const u64, count: usize) -> u64;
    fn hansa_sim_blocks_repeat8(row: *mut u32, addresses: *const u64, count: usize) -> u64;
    fn hansa_sim_blocks_store4(row: *mut u32, addresses: *const u64, count: usize) -> u64;
    fn hansa_sim_blocks_store8(row: *mut u32, addresses: *const u64, count: usize) -> u64;
    fn hansa_sim_blocks_end();
}

/// Whether an instruction is one of these routines'.
pub(super) fn contain(pc: usize) -> bool {
    let begin = hansa_sim_blocks_begin as *const () as usize;
    (begin..hansa_sim_blocks_end as *const () as usize).contains(&pc)
}

/// The host's addresses of blocks that lie `strides` apart, one stride for each bit of a block's number: as many as there are
/// in a row of `1 << LOG` lanes each.
#[inline(always)]
pub(crate) fn addresses<const LOG: usize>(first: u64, stride: impl Fn(usize) -> u32) -> [u64; 16] {
    let mut addresses = [host(first); 16];
    for bit in 0..6 - LOG {
        let stride = u64::from(stride(bit));
        for (number, address) in addresses.iter_mut().enumerate() {
            if number >> bit & 1 != 0 {
                *address += stride;
            }
        }
    }
    addresses
}

/// The routine for blocks of `1 << LOG` lanes, of those for 4 and 8.
const fn of<const LOG: usize>([four, eight]: [Routine; 2]) -> Routine {
    match LOG {
        2 => four,
        _ => eight,
    }
}

/// Fills a row with a block from each address.
#[inline(always)]
pub(crate) fn load<const LOG: usize>(row: &mut Row, addresses: &[u64; 16]) -> Result<(), Unmapped> {
    let routine = of::<LOG>([hansa_sim_blocks_load4, hansa_sim_blocks_load8]);
    // SAFETY: as many blocks as a row has have their addresses, and rows are aligned for the widest. The device may read
    // there, or it faults, which becomes an error. Only handlers of a level with such vectors use wide blocks.
    outcome(unsafe { routine(row.0.as_mut_ptr(), addresses.as_ptr(), 64 >> LOG) })
}

/// Fills each block of a row with the dword at its address.
#[inline(always)]
pub(crate) fn repeat<const LOG: usize>(row: &mut Row, addresses: &[u64; 16]) -> Result<(), Unmapped> {
    let routine = of::<LOG>([hansa_sim_blocks_repeat4, hansa_sim_blocks_repeat8]);
    // SAFETY: as in [`load`].
    outcome(unsafe { routine(row.0.as_mut_ptr(), addresses.as_ptr(), 64 >> LOG) })
}

/// Stores each block of a row at its address. The caller has established that the device may write there.
#[inline(always)]
pub(crate) fn store<const LOG: usize>(row: &Row, addresses: &[u64; 16]) -> Result<(), Unmapped> {
    let routine = of::<LOG>([hansa_sim_blocks_store4, hansa_sim_blocks_store8]);
    // SAFETY: as in [`load`]; these only read the row.
    outcome(unsafe { routine(row.0.as_ptr().cast_mut(), addresses.as_ptr(), 64 >> LOG) })
}

#[cfg(test)]
mod tests {
    use super::super::guard::{install, OWN};
    use super::super::level::Level;
    use super::*;

    fn moves_blocks<const LOG: usize>() {
        install().expect("handler");
        let memory: Vec<u32> = (0..1000).collect();
        let first = memory.as_ptr() as u64 | OWN;
        // Blocks lie backwards in the order of bits: each bit of the number moves on by twice as much as a row.
        let stride = |bit: usize| 512u32 << bit;
        let spread = addresses::<LOG>(first + 4, stride);
        let mut row = Row::ZERO;
        if LOG == 3 {
            assert_eq!(load::<LOG>(&mut row, &spread), Ok(()));
            for (lane, value) in row.0.iter().enumerate() {
                assert_eq!(*value as usize, 1 + (lane >> LOG) * 128 + lane % (1 << LOG));
            }
        }
        let near = addresses::<LOG>(first, |bit| 4 << bit);
        assert_eq!(repeat::<LOG>(&mut row, &near), Ok(()));
        for (lane, value) in row.0.iter().enumerate() {
            assert_eq!(*value as usize, lane >> LOG);
        }
        let mut copy = vec![0u32; 64];
        let places = addresses::<LOG>(copy.as_mut_ptr() as u64, |bit| 4 << (LOG + bit));
        assert_eq!(store::<LOG>(&row, &places), Ok(()));
        assert_eq!(copy, row.0);
        let mut wrong = places;
        wrong[(64 >> LOG) - 1] = 16;
        assert_eq!(store::<LOG>(&row, &wrong), Err(Unmapped(16)));
        assert_eq!(load::<LOG>(&mut row, &wrong), Err(Unmapped(16)));
        assert_eq!(repeat::<LOG>(&mut row, &wrong), Err(Unmapped(16)));
    }

    #[test]
    fn rows_move_in_blocks_and_faults_are_errors() {
        moves_blocks::<2>();
        if Level::detected() >= Level::Avx2 {
            moves_blocks::<3>();
        }
    }
}
