//! Memory of the process at a second address.
//!
//! A device can see memory of the process elsewhere than the host does. What runs kernels here has the host's addresses, so
//! the pages really have to be there: they are put into a memory file, which is mapped in place of them and at the other
//! address. Threads that write meanwhile are held by `userfaultfd(2)` (write protection), and go on in the new mapping.
//! When nobody needs the second address any more, the pages become ordinary ones again.

use crate::Errno;
use hansa_plugin_api::sync::Mutex;
use std::collections::BTreeMap;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::Arc;

/// What is mapped apart: the page of the machine below, whatever the virtual kernel's are.
const PAGE: u64 = 4096;

/// A page that is in a file.
#[derive(Clone, Debug)]
struct Page {
    file: Arc<OwnedFd>,
    offset: u64,
    /// Second addresses that it has.
    users: u32,
}

/// Pages with second addresses.
#[derive(Debug, Default)]
pub struct Aliases {
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    /// By the host's address.
    pages: BTreeMap<u64, Page>,
    /// Second addresses: where the host has the pages, and bytes.
    shown: BTreeMap<u64, (u64, u64)>,
}

fn pointer(address: u64) -> *mut libc::c_void {
    std::ptr::with_exposed_provenance_mut(usize::try_from(address).unwrap_or(0))
}

fn size(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(0)
}

fn last() -> Errno {
    Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)
}

/// Maps a file at an address, in place of what is there; 0 is anywhere.
fn map(address: u64, bytes: u64, flags: libc::c_int, file: libc::c_int, offset: u64) -> Result<u64, Errno> {
    let fixed = if address == 0 { 0 } else { libc::MAP_FIXED };
    let offset = i64::try_from(offset).map_err(|_| Errno::INVAL)?;
    // The system call itself: the library's may belong to a system with larger pages, which does not know of these.
    // SAFETY: callers map over pages whose contents the mapping has, or over a reservation of the program for it.
    let at = unsafe {
        libc::syscall(
            libc::SYS_mmap,
            pointer(address),
            size(bytes),
            libc::PROT_READ | libc::PROT_WRITE,
            flags | fixed,
            file,
            offset,
        )
    };
    u64::try_from(at).map_err(|_| last())
}

/// Holds whoever writes to a range, until it is dropped.
struct Hold(Option<OwnedFd>);

impl Hold {
    /// Holds writers where the system can; elsewhere a write at just that moment is lost.
    fn new(address: u64, bytes: u64) -> Self {
        const USER_MODE_ONLY: libc::c_int = 1;
        const API: libc::c_ulong = 0xc018_aa3f;
        const REGISTER: libc::c_ulong = 0xc020_aa00;
        const PROTECT: libc::c_ulong = 0xc018_aa06;
        /// Write protection of ordinary memory, of memory files, and of pages that are not there yet.
        const FEATURES: u64 = 1 | 1 << 12 | 1 << 13;
        // SAFETY: makes a file descriptor.
        let fd = unsafe { libc::syscall(libc::SYS_userfaultfd, libc::O_CLOEXEC | USER_MODE_ONLY) };
        let Ok(fd) = libc::c_int::try_from(fd) else {
            return Self(None);
        };
        if fd < 0 {
            return Self(None);
        }
        // SAFETY: the descriptor was just made and is nobody's.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        let call = |code: libc::c_ulong, words: &mut [u64]| {
            // SAFETY: the words are the structure that the code names. The raw call, as the library's is ours to answer.
            unsafe { libc::syscall(libc::SYS_ioctl, fd.as_raw_fd(), code, words.as_mut_ptr()) == 0 }
        };
        let held = call(API, &mut [0xaa, FEATURES, 0])
            && call(REGISTER, &mut [address, bytes, 2, 0])
            && call(PROTECT, &mut [address, bytes, 1]);
        Self(held.then_some(fd))
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        // Closing it wakes whoever was held.
        drop(self.0.take());
    }
}

fn copy(to: u64, from: u64, bytes: u64) {
    // SAFETY: both ranges are mapped, the first for this copy only; others may write the second where nothing holds
    // them, and any value is a value.
    unsafe {
        std::ptr::copy_nonoverlapping(pointer(from).cast::<u8>(), pointer(to).cast::<u8>(), size(bytes));
    }
}

/// Whether a range is ordinary memory of this process alone, which nobody misses when it is another mapping.
fn is_ordinary(start: u64, end: u64) -> bool {
    let Ok(maps) = std::fs::read_to_string("/proc/self/maps") else {
        return false;
    };
    let mut at = start;
    for line in maps.lines() {
        let mut fields = line.split_ascii_whitespace();
        let (Some(range), Some(rights)) = (fields.next(), fields.next()) else {
            return false;
        };
        let Some((first, last)) = range.split_once('-') else {
            return false;
        };
        let (Ok(first), Ok(last)) = (u64::from_str_radix(first, 16), u64::from_str_radix(last, 16)) else {
            return false;
        };
        if last <= at {
            continue;
        }
        if first > at || !rights.starts_with("rw") || !rights.ends_with('p') {
            return false;
        }
        at = last;
        if at >= end {
            return true;
        }
    }
    false
}

/// Runs on a thread of its own: the range may be the caller's stack.
fn aside<T: Send>(act: impl FnOnce() -> T + Send) -> Result<T, Errno> {
    std::thread::scope(|scope| scope.spawn(act).join()).map_err(|_| Errno::IO)
}

impl Aliases {
    /// Shows the pages of a host range at a second address, which the program has reserved. Nothing happens when they are
    /// there already.
    ///
    /// # Errors
    ///
    /// [`Errno::OPNOTSUPP`] for memory that is not ordinary; what mapping says.
    pub fn show(&self, host: u64, second: u64, bytes: u64) -> Result<(), Errno> {
        let mut table = self.table.lock();
        if table.shown.contains_key(&second) {
            return Ok(());
        }
        let table = &mut *table;
        aside(move || table.show(host, second, bytes))?
    }

    /// Takes a second address back.
    pub fn hide(&self, second: u64) {
        let mut table = self.table.lock();
        let Some((host, bytes)) = table.shown.remove(&second) else {
            return;
        };
        let table = &mut *table;
        // A thread that cannot start leaves the pages in their file, which nobody notices.
        let _ = aside(move || table.hide(host, bytes));
    }
}

impl Table {
    fn show(&mut self, host: u64, second: u64, bytes: u64) -> Result<(), Errno> {
        let mut at = host;
        while at < host + bytes {
            let place = second + (at - host);
            if let Some(page) = self.pages.get_mut(&at) {
                map(place, PAGE, libc::MAP_SHARED, page.file.as_raw_fd(), page.offset)?;
                page.users += 1;
                at += PAGE;
                continue;
            }
            let next = self.pages.range(at..host + bytes).next();
            let end = next.map_or(host + bytes, |(next, _)| *next);
            if !is_ordinary(at, end) {
                self.hide(host, at - host);
                return Err(Errno::OPNOTSUPP);
            }
            let file = Arc::new(fill(at, place, end - at)?);
            for offset in (0..end - at).step_by(size(PAGE)) {
                let page = Page {
                    file: Arc::clone(&file),
                    offset,
                    users: 1,
                };
                self.pages.insert(at + offset, page);
            }
            at = end;
        }
        self.shown.insert(second, (host, bytes));
        Ok(())
    }

    fn hide(&mut self, host: u64, bytes: u64) {
        let mut free: Option<(u64, u64)> = None;
        for at in (host..host + bytes).step_by(size(PAGE)) {
            let Some(page) = self.pages.get_mut(&at) else {
                continue;
            };
            page.users -= 1;
            if page.users != 0 {
                continue;
            }
            self.pages.remove(&at);
            free = match free {
                Some((start, end)) if end == at => Some((start, at + PAGE)),
                other => {
                    other
                        .into_iter()
                        .for_each(|(start, end)| make_ordinary(start, end - start));
                    Some((at, at + PAGE))
                }
            };
        }
        free.into_iter()
            .for_each(|(start, end)| make_ordinary(start, end - start));
    }
}

/// Puts pages into a file that is mapped in place of them and at a second address.
fn fill(host: u64, second: u64, bytes: u64) -> Result<OwnedFd, Errno> {
    // SAFETY: makes a file descriptor from a name.
    let fd = unsafe { libc::memfd_create(c"vkernel-alias".as_ptr(), libc::MFD_CLOEXEC) };
    if fd < 0 {
        return Err(last());
    }
    // SAFETY: the descriptor was just made and is nobody's.
    let file = unsafe { OwnedFd::from_raw_fd(fd) };
    let length = i64::try_from(bytes).map_err(|_| Errno::NOMEM)?;
    // SAFETY: sets the length of that file.
    if unsafe { libc::ftruncate(fd, length) } != 0 {
        return Err(last());
    }
    map(second, bytes, libc::MAP_SHARED, fd, 0)?;
    let _hold = Hold::new(host, bytes);
    copy(second, host, bytes);
    map(host, bytes, libc::MAP_SHARED, fd, 0)?;
    Ok(file)
}

/// Makes pages that are in a file ordinary ones, unless the program unmapped them.
fn make_ordinary(host: u64, bytes: u64) {
    let mut probe = [0];
    if crate::user::read(host, &mut probe).is_err()
        || crate::user::read(host + bytes - 1, &mut probe).is_err()
    {
        return;
    }
    let Ok(fresh) = map(0, bytes, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0) else {
        return;
    };
    let _hold = Hold::new(host, bytes);
    copy(fresh, host, bytes);
    // SAFETY: the fresh pages have the contents of those that they replace.
    unsafe {
        libc::syscall(
            libc::SYS_mremap,
            pointer(fresh),
            size(bytes),
            size(bytes),
            libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED,
            pointer(host),
        )
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

    fn pages(count: u64) -> u64 {
        map(0, count * PAGE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0).unwrap()
    }

    fn word(address: u64) -> &'static AtomicU64 {
        // SAFETY: a word of pages that the test never unmaps.
        unsafe { AtomicU64::from_ptr(pointer(address).cast()) }
    }

    #[test]
    fn both_addresses_are_the_same_memory_until_it_is_ordinary_again() {
        let aliases = Aliases::default();
        let (host, second, third) = (pages(4), pages(4), pages(2));
        word(host + 8).store(1, Ordering::Relaxed);
        aliases.show(host, second, 4 * PAGE).unwrap();
        assert_eq!(word(second + 8).load(Ordering::Relaxed), 1);
        word(second + 3 * PAGE).store(2, Ordering::Relaxed);
        assert_eq!(word(host + 3 * PAGE).load(Ordering::Relaxed), 2);
        // A part of it once more.
        aliases.show(host + PAGE, third, 2 * PAGE).unwrap();
        word(third).store(3, Ordering::Relaxed);
        assert_eq!(word(second + PAGE).load(Ordering::Relaxed), 3);
        aliases.hide(second);
        word(host + PAGE).store(4, Ordering::Relaxed);
        assert_eq!(word(third).load(Ordering::Relaxed), 4);
        aliases.hide(third);
        assert!(aliases.table.lock().pages.is_empty());
        word(host).store(5, Ordering::Relaxed);
        assert_eq!(word(second).load(Ordering::Relaxed), 0);
        assert_eq!(word(host + 3 * PAGE).load(Ordering::Relaxed), 2);
    }

    #[test]
    fn no_write_is_lost_on_the_way() {
        static GO_ON: AtomicBool = AtomicBool::new(true);
        let aliases = Aliases::default();
        let (host, second) = (pages(1), pages(1));
        if Hold::new(host, PAGE).0.is_none() {
            return;
        }
        let writer = std::thread::spawn(move || {
            let mut count = 0;
            while GO_ON.load(Ordering::Relaxed) {
                count += 1;
                word(host).store(count, Ordering::Relaxed);
                assert_eq!(word(host).load(Ordering::Relaxed), count, "a write was lost");
            }
        });
        for _ in 0..200 {
            aliases.show(host, second, PAGE).unwrap();
            aliases.hide(second);
        }
        GO_ON.store(false, Ordering::Relaxed);
        writer.join().unwrap();
    }
}
