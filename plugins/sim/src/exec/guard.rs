//! Accesses to memory that may vanish: machine code with a fault handler around it.
//!
//! Kernels address host memory directly, and the host may unmap it under a running kernel. All
//! accesses to it are therefore made by the few assembly routines of this file. They use no stack, so
//! that when one faults, the handler for SIGSEGV and SIGBUS can let it return at once with the faulting address
//! as its result. A fault anywhere else goes to whatever handler was there before.
//!
//! A device sees some host memory at addresses of its own, which differ from the host's in one bit ([`OWN`]). The routines
//! get addresses of either kind; the bit is taken off here and nowhere else.
//!
//! Assembly also keeps data races between kernels and host out of Rust's memory model: a routine is
//! an opaque external function to the compiler.

use super::{guard_blocks, guard_pairs, guard_straight, standstill};
use hansa_plugin_api::fork::{Lazy, Lock};
use std::ffi::c_void;
use std::io;
use std::mem::MaybeUninit;

// Every routine returns 0 in rax, or the faulting address. Arguments come in rdi, rsi, rdx, rcx, r8.
std::arch::global_asm!(
    r#"
    .pushsection .text.hansa_sim_guard, "ax", @progbits
    .p2align 4
    .globl hansa_sim_guard_begin
    .hidden hansa_sim_guard_begin
hansa_sim_guard_begin:

    // copy(to, from, bytes): eight aligned bytes are never taken apart
    .globl hansa_sim_guard_copy
    .hidden hansa_sim_guard_copy
hansa_sim_guard_copy:
    sub rdx, 64
    jb 2f
1:  movups xmm0, [rsi]
    movups xmm1, [rsi + 16]
    movups xmm2, [rsi + 32]
    movups xmm3, [rsi + 48]
    movups [rdi], xmm0
    movups [rdi + 16], xmm1
    movups [rdi + 32], xmm2
    movups [rdi + 48], xmm3
    add rsi, 64; add rdi, 64; sub rdx, 64
    jae 1b
2:  add rdx, 64
    jz 5f
3:  sub rdx, 8
    jb 4f
    mov rax, [rsi]
    mov [rdi], rax
    add rsi, 8; add rdi, 8
    jmp 3b
4:  add rdx, 8
    jz 5f
    cmp rdx, 4
    jb 6f
    mov eax, [rsi]
    mov [rdi], eax
    add rsi, 4; add rdi, 4
    sub rdx, 4
    jz 5f
6:  mov al, [rsi]
    mov [rdi], al
    inc rsi
    inc rdi
    dec rdx
    jnz 6b
5:  xor eax, eax
    ret

    // move(to, from, bytes): for many bytes, where the processor copies strings fast
    .globl hansa_sim_guard_move
    .hidden hansa_sim_guard_move
hansa_sim_guard_move:
    mov rcx, rdx
    rep movsb
    xor eax, eax
    ret

    // gather(rows, addresses, lanes, displacement): for each lane, a dword to rows[lane]
    .globl hansa_sim_guard_gather32
    .hidden hansa_sim_guard_gather32
hansa_sim_guard_gather32:
1:  bsf r9, rdx
    jz 2f
    mov r10, [rsi + 8*r9]
    btr r10, 47
    mov eax, [r10 + rcx]
    mov [rdi + 4*r9], eax
    lea rax, [rdx - 1]
    and rdx, rax
    jmp 1b
2:  xor eax, eax
    ret

    .globl hansa_sim_guard_gather16
    .hidden hansa_sim_guard_gather16
hansa_sim_guard_gather16:
1:  bsf r9, rdx
    jz 2f
    mov r10, [rsi + 8*r9]
    btr r10, 47
    movzx eax, word ptr [r10 + rcx]
    mov [rdi + 4*r9], eax
    lea rax, [rdx - 1]
    and rdx, rax
    jmp 1b
2:  xor eax, eax
    ret

    .globl hansa_sim_guard_gather8
    .hidden hansa_sim_guard_gather8
hansa_sim_guard_gather8:
1:  bsf r9, rdx
    jz 2f
    mov r10, [rsi + 8*r9]
    btr r10, 47
    movzx eax, byte ptr [r10 + rcx]
    mov [rdi + 4*r9], eax
    lea rax, [rdx - 1]
    and rdx, rax
    jmp 1b
2:  xor eax, eax
    ret

    // scatter(rows, addresses, lanes, displacement): for each lane, rows[lane] to memory
    .globl hansa_sim_guard_scatter32
    .hidden hansa_sim_guard_scatter32
hansa_sim_guard_scatter32:
1:  bsf r9, rdx
    jz 2f
    mov r10, [rsi + 8*r9]
    btr r10, 47
    mov eax, [rdi + 4*r9]
    mov [r10 + rcx], eax
    lea rax, [rdx - 1]
    and rdx, rax
    jmp 1b
2:  xor eax, eax
    ret

    .globl hansa_sim_guard_scatter16
    .hidden hansa_sim_guard_scatter16
hansa_sim_guard_scatter16:
1:  bsf r9, rdx
    jz 2f
    mov r10, [rsi + 8*r9]
    btr r10, 47
    mov eax, [rdi + 4*r9]
    mov [r10 + rcx], ax
    lea rax, [rdx - 1]
    and rdx, rax
    jmp 1b
2:  xor eax, eax
    ret

    .globl hansa_sim_guard_scatter8
    .hidden hansa_sim_guard_scatter8
hansa_sim_guard_scatter8:
1:  bsf r9, rdx
    jz 2f
    mov r10, [rsi + 8*r9]
    btr r10, 47
    mov eax, [rdi + 4*r9]
    mov [r10 + rcx], al
    lea rax, [rdx - 1]
    and rdx, rax
    jmp 1b
2:  xor eax, eax
    ret

    // load(address, value*): one naturally aligned value
    .globl hansa_sim_guard_load32
    .hidden hansa_sim_guard_load32
hansa_sim_guard_load32:
    mov ecx, [rdi]
    mov [rsi], rcx
    xor eax, eax
    ret

    .globl hansa_sim_guard_load64
    .hidden hansa_sim_guard_load64
hansa_sim_guard_load64:
    mov rcx, [rdi]
    mov [rsi], rcx
    xor eax, eax
    ret

    // add, exchange (address, value*): atomically; the old value is stored through the pointer
    .globl hansa_sim_guard_add32
    .hidden hansa_sim_guard_add32
hansa_sim_guard_add32:
    mov ecx, [rsi]
    lock xadd [rdi], ecx
    mov [rsi], rcx
    xor eax, eax
    ret

    .globl hansa_sim_guard_add64
    .hidden hansa_sim_guard_add64
hansa_sim_guard_add64:
    mov rcx, [rsi]
    lock xadd [rdi], rcx
    mov [rsi], rcx
    xor eax, eax
    ret

    .globl hansa_sim_guard_exchange32
    .hidden hansa_sim_guard_exchange32
hansa_sim_guard_exchange32:
    mov ecx, [rsi]
    xchg [rdi], ecx
    mov [rsi], rcx
    xor eax, eax
    ret

    .globl hansa_sim_guard_exchange64
    .hidden hansa_sim_guard_exchange64
hansa_sim_guard_exchange64:
    mov rcx, [rsi]
    xchg [rdi], rcx
    mov [rsi], rcx
    xor eax, eax
    ret

    // compare_exchange(address, expected*, new): atomically; the old value is stored through the pointer
    .globl hansa_sim_guard_compare_exchange32
    .hidden hansa_sim_guard_compare_exchange32
hansa_sim_guard_compare_exchange32:
    mov eax, [rsi]
    lock cmpxchg [rdi], edx
    mov ecx, eax
    mov [rsi], rcx
    xor eax, eax
    ret

    .globl hansa_sim_guard_compare_exchange64
    .hidden hansa_sim_guard_compare_exchange64
hansa_sim_guard_compare_exchange64:
    mov rax, [rsi]
    lock cmpxchg [rdi], rdx
    mov [rsi], rax
    xor eax, eax
    ret

    .globl hansa_sim_guard_end
    .hidden hansa_sim_guard_end
hansa_sim_guard_end:
    // Where a routine that faulted goes on, with the address in rax.
    .globl hansa_sim_guard_fixup
    .hidden hansa_sim_guard_fixup
hansa_sim_guard_fixup:
    ret
    .popsection
    "#
);

unsafe extern "C" {
    fn hansa_sim_guard_begin();
    fn hansa_sim_guard_end();
    fn hansa_sim_guard_fixup();
    fn hansa_sim_guard_copy(to: *mut u8, from: *const u8, bytes: usize) -> u64;
    fn hansa_sim_guard_move(to: *mut u8, from: *const u8, bytes: usize) -> u64;
    fn hansa_sim_guard_gather32(rows: *mut u32, addresses: *const u64, lanes: u64, displacement: u64) -> u64;
    fn hansa_sim_guard_gather16(rows: *mut u32, addresses: *const u64, lanes: u64, displacement: u64) -> u64;
    fn hansa_sim_guard_gather8(rows: *mut u32, addresses: *const u64, lanes: u64, displacement: u64) -> u64;
    fn hansa_sim_guard_scatter32(
        rows: *const u32,
        addresses: *const u64,
        lanes: u64,
        displacement: u64,
    ) -> u64;
    fn hansa_sim_guard_scatter16(
        rows: *const u32,
        addresses: *const u64,
        lanes: u64,
        displacement: u64,
    ) -> u64;
    fn hansa_sim_guard_scatter8(
        rows: *const u32,
        addresses: *const u64,
        lanes: u64,
        displacement: u64,
    ) -> u64;
    fn hansa_sim_guard_load32(address: u64, value: *mut u64) -> u64;
    fn hansa_sim_guard_load64(address: u64, value: *mut u64) -> u64;
    fn hansa_sim_guard_add32(address: u64, value: *mut u64) -> u64;
    fn hansa_sim_guard_add64(address: u64, value: *mut u64) -> u64;
    fn hansa_sim_guard_exchange32(address: u64, value: *mut u64) -> u64;
    fn hansa_sim_guard_exchange64(address: u64, value: *mut u64) -> u64;
    fn hansa_sim_guard_compare_exchange32(address: u64, expected: *mut u64, new: u64) -> u64;
    fn hansa_sim_guard_compare_exchange64(address: u64, expected: *mut u64, new: u64) -> u64;
}

/// The bit in which a device's own address of host memory differs from the host's. Bit 47 is 0 in every address of a
/// process, and the assembly knows it by that number.
pub(crate) const OWN: u64 = 1 << 47;

/// The host's address of what a device sees at an address.
pub(super) const fn host(address: u64) -> u64 {
    address & !OWN
}

/// An access that the host could not make: the faulting address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unmapped(pub(crate) u64);

pub(super) fn outcome(address: u64) -> Result<(), Unmapped> {
    if address == 0 {
        Ok(())
    } else {
        Err(Unmapped(address))
    }
}

/// Bytes that a lane moves in one access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Width {
    /// One byte.
    Byte,
    /// Two bytes.
    Short,
    /// Four bytes.
    Dword,
}

impl Width {
    /// Bytes.
    pub(crate) const fn bytes(self) -> u64 {
        match self {
            Self::Byte => 1,
            Self::Short => 2,
            Self::Dword => 4,
        }
    }
}

/// Copies foreign memory into `to`.
pub(crate) fn read(to: &mut [u32], from: u64) -> Result<(), Unmapped> {
    // SAFETY: the routine writes `to` only within its length; a fault at `from` becomes an error.
    outcome(unsafe { hansa_sim_guard_copy(to.as_mut_ptr().cast(), host(from) as *const u8, size_of_val(to)) })
}

/// Copies foreign memory into `to`.
pub(crate) fn read_bytes(to: &mut [u8], from: u64) -> Result<(), Unmapped> {
    // SAFETY: the routine writes `to` only within its length; a fault at `from` becomes an error.
    outcome(unsafe { hansa_sim_guard_copy(to.as_mut_ptr(), host(from) as *const u8, to.len()) })
}

/// Copies `from` into foreign memory. The caller has established that the device may write there.
pub(crate) fn write(to: u64, from: &[u32]) -> Result<(), Unmapped> {
    // SAFETY: the routine reads `from` only within its length; `to` is device-writable memory by the address
    // space's word, or faults, which becomes an error.
    outcome(unsafe { hansa_sim_guard_copy(host(to) as *mut u8, from.as_ptr().cast(), size_of_val(from)) })
}

/// Copies `from` into foreign memory. The caller has established that the device may write there.
pub(crate) fn write_bytes(to: u64, from: &[u8]) -> Result<(), Unmapped> {
    // SAFETY: as [`write`].
    outcome(unsafe { hansa_sim_guard_copy(host(to) as *mut u8, from.as_ptr(), from.len()) })
}

/// Copies foreign memory to foreign memory that does not overlap it. The caller has established that it may be
/// written.
pub(crate) fn copy(to: u64, from: u64, bytes: u64) -> Result<(), Unmapped> {
    let routine = if bytes >= MANY && moves_fast() {
        hansa_sim_guard_move
    } else {
        hansa_sim_guard_copy
    };
    // SAFETY: a fault at either place becomes an error; the caller vouches for the destination.
    outcome(unsafe { routine(host(to) as *mut u8, host(from) as *const u8, bytes as usize) })
}

/// Bytes from which on starting a string operation pays.
const MANY: u64 = 2048;

/// Whether the processor says that its string operations are fast (CPUID leaf 7, EBX bit 9).
fn moves_fast() -> bool {
    static ANSWER: Lazy<bool> = Lazy::new(|| {
        let has_leaf = std::arch::x86_64::__cpuid(0).eax >= 7;
        has_leaf && std::arch::x86_64::__cpuid_count(7, 0).ebx & 1 << 9 != 0
    });
    *ANSWER
}

/// Loads each lane of `lanes` from its address plus `displacement`, zero-extended.
pub(crate) fn gather(
    width: Width,
    row: &mut [u32; 64],
    addresses: &[u64; 64],
    lanes: u64,
    displacement: u64,
) -> Result<(), Unmapped> {
    let routine = match width {
        Width::Byte => hansa_sim_guard_gather8,
        Width::Short => hansa_sim_guard_gather16,
        Width::Dword => hansa_sim_guard_gather32,
    };
    // SAFETY: lanes are below 64, so both arrays are accessed within bounds; a fault becomes an error.
    outcome(unsafe { routine(row.as_mut_ptr(), addresses.as_ptr(), lanes, displacement) })
}

/// Stores each lane of `lanes` to its address plus `displacement`. The caller has established that
/// the device may write there.
pub(crate) fn scatter(
    width: Width,
    row: &[u32; 64],
    addresses: &[u64; 64],
    lanes: u64,
    displacement: u64,
) -> Result<(), Unmapped> {
    let routine = match width {
        Width::Byte => hansa_sim_guard_scatter8,
        Width::Short => hansa_sim_guard_scatter16,
        Width::Dword => hansa_sim_guard_scatter32,
    };
    // SAFETY: lanes are below 64, so both arrays are accessed within bounds; the addresses are device-writable
    // memory by the address space's word, or fault, which becomes an error.
    outcome(unsafe { routine(row.as_ptr(), addresses.as_ptr(), lanes, displacement) })
}

/// An atomic access to foreign memory of 32 or 64 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Size {
    /// 32 bits.
    B32,
    /// 64 bits.
    B64,
}

/// Loads one value.
pub(crate) fn load(size: Size, address: u64) -> Result<u64, Unmapped> {
    let mut value = 0;
    let routine = match size {
        Size::B32 => hansa_sim_guard_load32,
        Size::B64 => hansa_sim_guard_load64,
    };
    // SAFETY: the routine writes `value` only; a fault at `address` becomes an error.
    outcome(unsafe { routine(host(address), &raw mut value) })?;
    Ok(value)
}

/// Adds to a value and returns the old one. The caller has established that the device may write there.
pub(crate) fn fetch_add(size: Size, address: u64, mut value: u64) -> Result<u64, Unmapped> {
    let routine = match size {
        Size::B32 => hansa_sim_guard_add32,
        Size::B64 => hansa_sim_guard_add64,
    };
    // SAFETY: `address` is device-writable memory by the address space's word, or faults.
    outcome(unsafe { routine(host(address), &raw mut value) })?;
    Ok(value)
}

/// Replaces a value and returns the old one. The caller has established that the device may write there.
pub(crate) fn exchange(size: Size, address: u64, mut value: u64) -> Result<u64, Unmapped> {
    let routine = match size {
        Size::B32 => hansa_sim_guard_exchange32,
        Size::B64 => hansa_sim_guard_exchange64,
    };
    // SAFETY: `address` is device-writable memory by the address space's word, or faults.
    outcome(unsafe { routine(host(address), &raw mut value) })?;
    Ok(value)
}

/// Replaces a value if it is `expected`, and returns the old one. The caller has established that the
/// device may write there.
pub(crate) fn compare_exchange(
    size: Size,
    address: u64,
    mut expected: u64,
    new: u64,
) -> Result<u64, Unmapped> {
    let routine = match size {
        Size::B32 => hansa_sim_guard_compare_exchange32,
        Size::B64 => hansa_sim_guard_compare_exchange64,
    };
    // SAFETY: `address` is device-writable memory by the address space's word, or faults.
    outcome(unsafe { routine(host(address), &raw mut expected, new) })?;
    Ok(expected)
}

/// The handlers that were there before ours, for SIGSEGV and SIGBUS.
#[derive(Default)]
struct Previous([Option<libc::sigaction>; 2]);

static PREVIOUS: Lock<Previous> = Lock::new(Previous([None, None]));

const SIGNALS: [i32; 2] = [libc::SIGSEGV, libc::SIGBUS];

/// Installs the fault handler unless it is the current one. Cheap enough for every dispatch: a program
/// may install its own handler at any time, and ours then goes in front of it again.
///
/// # Errors
///
/// The system refuses to change the handler.
pub fn install() -> io::Result<()> {
    let mut previous = PREVIOUS.lock();
    for (i, signal) in SIGNALS.into_iter().enumerate() {
        let current = action(signal, None)?;
        if current.sa_sigaction == on_fault as *const () as usize {
            continue;
        }
        // The handler reads this without the lock; it is written before ours can run for the first time, and later
        // only replaced by the handler that was current in between.
        previous.0[i] = Some(current);
        PREVIOUS_FOR_HANDLER.set(i, current);
        // SAFETY: an all-zero sigaction is a valid value.
        let mut ours: libc::sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
        ours.sa_sigaction = on_fault as *const () as usize;
        ours.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
        action(signal, Some(&ours))?;
    }
    Ok(())
}

/// Whether a fault on the calling thread reaches the handler: the thread may hold the signals back, and the system then
/// ends the process.
pub(crate) fn is_armed() -> bool {
    let mut held = MaybeUninit::<libc::sigset_t>::zeroed();
    // SAFETY: changes nothing, and fills in a set.
    let error = unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, std::ptr::null(), held.as_mut_ptr()) };
    // SAFETY: all-zero was a set already.
    let held = unsafe { held.assume_init() };
    // SAFETY: the set is valid, and the signals are.
    error == 0
        && SIGNALS
            .into_iter()
            .all(|signal| unsafe { libc::sigismember(&raw const held, signal) } == 0)
}

/// Sets the action for a signal, if there is a new one, and returns the old one.
fn action(signal: i32, new: Option<&libc::sigaction>) -> io::Result<libc::sigaction> {
    let mut old = MaybeUninit::zeroed();
    let new = new.map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: both pointers are null or point to a sigaction.
    if unsafe { libc::sigaction(signal, new, old.as_mut_ptr()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call has filled it in, and all-zero was valid already.
    Ok(unsafe { old.assume_init() })
}

/// What the handler needs of the previous handlers, readable without a lock.
struct HandlerTable {
    handler: [std::sync::atomic::AtomicUsize; 2],
    flags: [std::sync::atomic::AtomicI32; 2],
}

static PREVIOUS_FOR_HANDLER: HandlerTable = HandlerTable {
    handler: [const { std::sync::atomic::AtomicUsize::new(libc::SIG_DFL) }; 2],
    flags: [const { std::sync::atomic::AtomicI32::new(0) }; 2],
};

impl HandlerTable {
    fn set(&self, i: usize, action: libc::sigaction) {
        use std::sync::atomic::Ordering::Release;
        self.flags[i].store(action.sa_flags, Release);
        self.handler[i].store(action.sa_sigaction, Release);
    }

    fn get(&self, i: usize) -> (usize, i32) {
        use std::sync::atomic::Ordering::Acquire;
        (self.handler[i].load(Acquire), self.flags[i].load(Acquire))
    }
}

/// The signal handler.
extern "C" fn on_fault(signal: i32, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel passes a valid siginfo to a handler installed with SA_SIGINFO.
    let what = unsafe { &*info };
    // SAFETY: these signals have an address.
    let address = unsafe { what.si_addr() } as u64;
    if signal == libc::SIGSEGV && standstill::is_to_be_repeated(address) {
        return;
    }
    // SAFETY: the kernel passes a valid ucontext to a handler installed with SA_SIGINFO.
    let registers = unsafe { &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
    let pc = registers[libc::REG_RIP as usize] as usize;
    let begin = hansa_sim_guard_begin as *const () as usize;
    let mine = (begin..hansa_sim_guard_end as *const () as usize).contains(&pc);
    if mine || guard_blocks::contain(pc) || guard_pairs::contain(pc) || guard_straight::contain(pc) {
        registers[libc::REG_RAX as usize] = if address == 0 { 1 } else { address as i64 };
        registers[libc::REG_RIP as usize] = hansa_sim_guard_fixup as *const () as i64;
        return;
    }
    let (handler, flags) = PREVIOUS_FOR_HANDLER.get(usize::from(signal == libc::SIGBUS));
    match handler {
        libc::SIG_DFL | libc::SIG_IGN => {
            // Back to the default: the instruction faults again and the process ends the way it would have.
            // SAFETY: signal() may be called from a handler.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        }
        _ if flags & libc::SA_SIGINFO != 0 => {
            // SAFETY: the program installed this address as a handler with three arguments.
            let handler: extern "C" fn(i32, *mut libc::siginfo_t, *mut c_void) =
                unsafe { std::mem::transmute(handler) };
            handler(signal, info, context);
        }
        _ => {
            // SAFETY: the program installed this address as a handler with one argument.
            let handler: extern "C" fn(i32) = unsafe { std::mem::transmute(handler) };
            handler(signal);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A page that nobody may touch.
    fn forbidden_page() -> u64 {
        // SAFETY: a fresh anonymous mapping at an address of the kernel's choice.
        let page = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                4096,
                libc::PROT_NONE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        assert_ne!(page, libc::MAP_FAILED);
        page as u64
    }

    #[test]
    fn faults_become_errors_with_the_address() {
        install().expect("handler");
        let page = forbidden_page();
        let mut row = [0; 64];
        assert_eq!(read(&mut row, page), Err(Unmapped(page)));
        assert_eq!(write(page + 8, &row), Err(Unmapped(page + 8)));
        let mut addresses = [row.as_ptr() as u64; 64];
        addresses[3] = page + 12;
        assert_eq!(
            gather(Width::Dword, &mut [0; 64], &addresses, !0, 4),
            Err(Unmapped(page + 16))
        );
        assert_eq!(
            scatter(Width::Byte, &row, &addresses, 8, 0),
            Err(Unmapped(page + 12))
        );
        assert_eq!(fetch_add(Size::B64, page, 1), Err(Unmapped(page)));
        assert_eq!(exchange(Size::B32, page, 1), Err(Unmapped(page)));
        assert_eq!(compare_exchange(Size::B32, page, 1, 2), Err(Unmapped(page)));
        assert_eq!(load(Size::B32, page), Err(Unmapped(page)));
    }

    #[test]
    fn accesses_do_what_they_say() {
        let source: Vec<u32> = (0..80).collect();
        let mut row = [0; 64];
        assert_eq!(read(&mut row[..37], source.as_ptr() as u64), Ok(()));
        assert_eq!(row[..37], source[..37]);
        assert_eq!(row[37], 0);
        let mut bytes = [0u8; 7];
        assert_eq!(read_bytes(&mut bytes, source.as_ptr() as u64 + 4), Ok(()));
        assert_eq!(bytes, [1, 0, 0, 0, 2, 0, 0]);
        let addresses: [u64; 64] = std::array::from_fn(|i| (&raw const source[63 - i]) as u64);
        let mut row = [99; 64];
        assert_eq!(gather(Width::Short, &mut row, &addresses, 0b101, 4), Ok(()));
        assert_eq!((row[0], row[1], row[2]), (64, 99, 62));
        let mut cell = 0x0000_0001_ffff_ffffu64;
        let address = (&raw mut cell) as u64;
        assert_eq!(fetch_add(Size::B32, address, 2), Ok(0xffff_ffff));
        assert_eq!(load(Size::B64, address), Ok(0x0000_0001_0000_0001));
        assert_eq!(exchange(Size::B64, address, 7), Ok(0x0000_0001_0000_0001));
        assert_eq!(compare_exchange(Size::B64, address, 8, 9), Ok(7));
        assert_eq!(compare_exchange(Size::B64, address, 7, 9), Ok(7));
        assert_eq!(fetch_add(Size::B64, address, 1 << 40), Ok(9));
        assert_eq!(load(Size::B64, address), Ok((1 << 40) + 9));
    }

    #[test]
    fn addresses_of_the_devices_own_lead_to_the_same_memory() {
        let mut cells = [3u32; 64];
        let own = |index: usize| (&raw const cells[index]) as u64 | OWN;
        let addresses: [u64; 64] = std::array::from_fn(own);
        let mut row = [0; 64];
        assert_eq!(gather(Width::Dword, &mut row, &addresses, !0, 0), Ok(()));
        assert_eq!(row, [3; 64]);
        let values: [u32; 64] = std::array::from_fn(|i| i as u32);
        assert_eq!(scatter(Width::Short, &values, &addresses, !0, 0), Ok(()));
        assert_eq!(read(&mut row, addresses[0]), Ok(()));
        assert_eq!(row, values);
        assert_eq!(write(addresses[0], &[7; 8]), Ok(()));
        assert_eq!(copy(addresses[16], addresses[0], 16), Ok(()));
        assert_eq!(fetch_add(Size::B32, addresses[16], 1), Ok(7));
        assert_eq!(exchange(Size::B32, addresses[17], 5), Ok(7));
        assert_eq!(compare_exchange(Size::B32, addresses[17], 5, 6), Ok(5));
        assert_eq!(load(Size::B32, addresses[17]), Ok(6));
        cells[0] = 1;
        assert_eq!((cells[16], cells[17]), (8, 6));
    }
}
