//! Guarded moves of 64 bits for each lane, in one access.
//!
//! A device moves eight bytes that are aligned at once, and kernels rely on it: a flag and the value that it is about
//! lie in two neighbouring dwords, and whoever sees the one sees the other. As in [`guard`](super::guard), a routine uses no
//! stack, and returns 0 or the address at which it faulted.

use super::guard::{outcome, Unmapped};

std::arch::global_asm!(
    r#"
    .pushsection .text.hansa_sim_pairs, "ax", @progbits
    .p2align 4
    .globl hansa_sim_pairs_begin
    .hidden hansa_sim_pairs_begin
hansa_sim_pairs_begin:

    // gather(low, addresses, lanes, displacement, high): for each lane, eight bytes to low[lane] and high[lane]
    .globl hansa_sim_pairs_gather
    .hidden hansa_sim_pairs_gather
hansa_sim_pairs_gather:
1:  bsf r9, rdx
    jz 2f
    mov r10, [rsi + 8*r9]
    btr r10, 47
    mov rax, [r10 + rcx]
    mov [rdi + 4*r9], eax
    shr rax, 32
    mov [r8 + 4*r9], eax
    lea rax, [rdx - 1]
    and rdx, rax
    jmp 1b
2:  xor eax, eax
    ret

    // scatter(low, addresses, lanes, displacement, high): for each lane, low[lane] and high[lane] to memory
    .p2align 4
    .globl hansa_sim_pairs_scatter
    .hidden hansa_sim_pairs_scatter
hansa_sim_pairs_scatter:
1:  bsf r9, rdx
    jz 2f
    mov r10, [rsi + 8*r9]
    btr r10, 47
    mov r11d, [r8 + 4*r9]
    shl r11, 32
    mov eax, [rdi + 4*r9]
    or rax, r11
    mov [r10 + rcx], rax
    lea rax, [rdx - 1]
    and rdx, rax
    jmp 1b
2:  xor eax, eax
    ret

    .globl hansa_sim_pairs_end
    .hidden hansa_sim_pairs_end
hansa_sim_pairs_end:
    .popsection
"#
);

unsafe extern "C" {
    fn hansa_sim_pairs_begin();
    fn hansa_sim_pairs_gather(
        low: *mut u32,
        addresses: *const u64,
        lanes: u64,
        displacement: u64,
        high: *mut u32,
    ) -> u64;
    fn hansa_sim_pairs_scatter(
        low: *const u32,
        addresses: *const u64,
        lanes: u64,
        displacement: u64,
        high: *const u32,
    ) -> u64;
    fn hansa_sim_pairs_end();
}

/// Whether an instruction is one of these routines'.
pub(super) fn contain(pc: usize) -> bool {
    let begin = hansa_sim_pairs_begin as *const () as usize;
    (begin..hansa_sim_pairs_end as *const () as usize).contains(&pc)
}

/// Loads eight bytes for each lane of `lanes` from its address plus `displacement`.
pub(crate) fn gather(
    [low, high]: [&mut [u32; 64]; 2],
    addresses: &[u64; 64],
    lanes: u64,
    displacement: u64,
) -> Result<(), Unmapped> {
    let (low, high) = (low.as_mut_ptr(), high.as_mut_ptr());
    // SAFETY: lanes are below 64, so all arrays are accessed within bounds; a fault becomes an error.
    outcome(unsafe { hansa_sim_pairs_gather(low, addresses.as_ptr(), lanes, displacement, high) })
}

/// Stores eight bytes of each lane of `lanes` to its address plus `displacement`. The caller has established that the
/// device may write there.
pub(crate) fn scatter(
    [low, high]: [&[u32; 64]; 2],
    addresses: &[u64; 64],
    lanes: u64,
    displacement: u64,
) -> Result<(), Unmapped> {
    let (low, high) = (low.as_ptr(), high.as_ptr());
    // SAFETY: as in [`gather`]; the addresses are device-writable memory by the address space's word, or fault, which
    // becomes an error.
    outcome(unsafe { hansa_sim_pairs_scatter(low, addresses.as_ptr(), lanes, displacement, high) })
}

#[cfg(test)]
mod tests {
    use super::super::guard::{install, OWN};
    use super::*;

    #[test]
    fn pairs_move_and_faults_are_errors() {
        install().expect("handler");
        let memory: Vec<u64> = (0..64).map(|i| i << 32 | (100 - i)).collect();
        let places: [u64; 64] = std::array::from_fn(|lane| (&raw const memory[63 - lane]) as u64 - 8);
        let addresses = places.map(|address| address | OWN);
        let (mut low, mut high) = ([7; 64], [7; 64]);
        assert_eq!(gather([&mut low, &mut high], &addresses, !2, 8), Ok(()));
        for lane in 0..64 {
            let found = if lane == 1 {
                (7, 7)
            } else {
                (37 + lane as u32, 63 - lane as u32)
            };
            assert_eq!((low[lane], high[lane]), found);
        }
        let mut copy = vec![0u64; 64];
        let places: [u64; 64] = std::array::from_fn(|lane| (&raw mut copy[63 - lane]) as u64);
        assert_eq!(scatter([&low, &high], &places, !2, 0), Ok(()));
        copy[62] = memory[62];
        assert_eq!(copy, memory);
        let wrong = [16; 64];
        assert_eq!(gather([&mut low, &mut high], &wrong, 1, 0), Err(Unmapped(16)));
        assert_eq!(scatter([&low, &high], &wrong, 1, 0), Err(Unmapped(16)));
    }
}
