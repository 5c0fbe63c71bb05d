//! The agents of the runtime, as `hansa run` found them: one number for each node, in order, separated by commas. The
//! number is what the kernel would call `gfx_target_version` (major * 10000 + minor * 100 + stepping; gfx90a is 90010),
//! and 0 for an agent that is no GPU.

use core::ffi::{c_char, CStr};
use core::sync::atomic::{AtomicU8, Ordering};

/// The variable that holds the numbers.
const VARIABLE: &CStr = c"HANSA_PRESENCE";

const UNKNOWN: u8 = 0;
const SILENT: u8 = 1;
const ANSWERING: u8 = 2;

/// Whether this process gets answers. Decided once, so that a program that clears its environment stays as it was.
static STATE: AtomicU8 = AtomicU8::new(UNKNOWN);

/// More nodes than any machine has; the list is copied so that a program may change its environment.
const MOST: usize = 64;

/// The numbers, written before the state becomes `ANSWERING`.
static NODES: [core::sync::atomic::AtomicU32; MOST] = [const { core::sync::atomic::AtomicU32::new(0) }; MOST];
static COUNT: core::sync::atomic::AtomicUsize = core::sync::atomic::AtomicUsize::new(0);

/// Whether look-ups are answered in this process.
pub(crate) fn answering() -> bool {
    match STATE.load(Ordering::Acquire) {
        UNKNOWN => decide(),
        state => state == ANSWERING,
    }
}

/// `gfx_target_version` of a node.
pub(crate) fn version(node: usize) -> Option<u32> {
    (node < count()).then(|| NODES[node].load(Ordering::Relaxed))
}

/// The number of nodes.
pub(crate) fn count() -> usize {
    COUNT.load(Ordering::Relaxed)
}

fn decide() -> bool {
    // SAFETY: the name is a C string; libc's table of variables is read as every libc function does.
    let value = unsafe { libc::getenv(VARIABLE.as_ptr()) };
    let listed = if value.is_null() {
        None
    } else {
        // SAFETY: a variable's value is a C string.
        let text = unsafe { CStr::from_ptr(value) };
        parse(text.to_bytes())
    };
    let Some((nodes, listed)) = listed.filter(|_| !driver_exists()) else {
        STATE.store(SILENT, Ordering::Release);
        return false;
    };
    // Several threads may come here at once; all write the same.
    for (cell, node) in NODES.iter().zip(nodes) {
        cell.store(node, Ordering::Relaxed);
    }
    COUNT.store(listed, Ordering::Relaxed);
    STATE.store(ANSWERING, Ordering::Release);
    true
}

/// Whether the kernel's driver is there after all. Asks the kernel itself, not this library.
fn driver_exists() -> bool {
    let path: *const c_char = c"/dev/kfd".as_ptr();
    // SAFETY: a system call that reads the path and nothing else.
    unsafe { libc::syscall(libc::SYS_faccessat, libc::AT_FDCWD, path, libc::F_OK) == 0 }
}

/// The numbers of a list, or nothing if it is none.
fn parse(text: &[u8]) -> Option<([u32; MOST], usize)> {
    let mut nodes = [0; MOST];
    let mut count = 0;
    for number in text.split(|byte| *byte == b',') {
        let digits = core::str::from_utf8(number).ok()?;
        *nodes.get_mut(count)? = digits.parse().ok()?;
        count += 1;
    }
    Some((nodes, count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_numbers_between_commas() {
        let (nodes, count) = parse(b"0,90000,90010").unwrap();
        assert_eq!((&nodes[..3], count), (&[0, 90000, 90010][..], 3));
        assert_eq!(parse(b"90000").unwrap().1, 1);
    }

    #[test]
    fn what_is_no_list_answers_nothing() {
        for bad in ["", ",", "90000,", "gfx900", "-1", "0 90000", "99999999999"] {
            assert!(parse(bad.as_bytes()).is_none(), "{bad}");
        }
        assert!(parse("1,".repeat(MOST).as_bytes()).is_none());
    }
}
