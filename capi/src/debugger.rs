//! The rendezvous with a debugger: `_amdgpu_r_debug`, laid out as the C library's `struct r_debug`.
//!
//! A debugger finds the object by name, reads the list of loaded code objects, and sets a breakpoint at `r_brk`, which
//! is called before and after each change of the list. An entry is a `struct link_map`: what was added to addresses,
//! and where the code object comes from, as a URI. Version 11 is that of the list's meaning and of the trap
//! handler's registers. Code objects are entered when their executable is frozen, and leave when it is destroyed.

use hansa_core::runtime::Runtime;
use hansa_core::Result;
use hansa_plugin_api::fork::Lock;
use std::ffi::{c_char, c_void, CString};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicI32, AtomicPtr, Ordering};

/// `r_version` that debuggers know.
const VERSION: i32 = 11;

/// `r_state`: what is under way.
mod state {
    /// `RT_CONSISTENT`: nothing.
    pub(super) const CONSISTENT: i32 = 0;
    /// `RT_ADD`: entries are being added.
    pub(super) const ADD: i32 = 1;
    /// `RT_DELETE`: entries are being removed.
    pub(super) const DELETE: i32 = 2;
}

/// `struct r_debug`. Atomic, because a debugger looks from outside.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct RDebug {
    version: i32,
    map: AtomicPtr<LinkMap>,
    breakpoint: extern "C" fn(),
    state: AtomicI32,
    linker_base: usize,
}

/// `struct link_map`, as far as debuggers read it.
#[repr(C)]
#[derive(Debug)]
struct LinkMap {
    /// What was added to the addresses in the file.
    difference: usize,
    name: AtomicPtr<c_char>,
    dynamic: AtomicPtr<c_void>,
    next: AtomicPtr<Self>,
    previous: AtomicPtr<Self>,
}

const _: () = {
    use std::mem::offset_of;
    assert!(size_of::<RDebug>() == 40 && size_of::<LinkMap>() == 40);
    assert!(offset_of!(RDebug, map) == 8 && offset_of!(RDebug, breakpoint) == 16);
    assert!(offset_of!(RDebug, state) == 24 && offset_of!(LinkMap, next) == 24);
};

/// The object behind the symbol `_amdgpu_r_debug`.
pub(crate) static R_DEBUG: RDebug = RDebug {
    version: VERSION,
    map: AtomicPtr::new(null_mut()),
    breakpoint: changed,
    state: AtomicI32::new(state::CONSISTENT),
    linker_base: 0,
};

/// Where a debugger sets its breakpoint.
#[inline(never)]
extern "C" fn changed() {
    // Keeps the function from being merged with another empty one, or left out.
    std::hint::black_box(());
}

/// A loaded code object.
#[derive(Debug)]
struct Entry {
    executable: u64,
    map: Box<LinkMap>,
    /// What `map.name` points to.
    #[expect(dead_code, reason = "the map points to it")]
    name: CString,
}

/// What the list is made of, in its order.
static ENTRIES: Lock<Vec<Entry>> = Lock::new(Vec::new());

impl Entry {
    fn new(executable: u64, uri: &str, difference: u64) -> Self {
        // A URI has no NUL: every character that could be one is written as %00.
        let name = CString::new(uri).unwrap_or_default();
        let map = Box::new(LinkMap {
            difference: usize::try_from(difference).unwrap_or(0),
            name: AtomicPtr::new(name.as_ptr().cast_mut()),
            dynamic: AtomicPtr::new(null_mut()),
            next: AtomicPtr::new(null_mut()),
            previous: AtomicPtr::new(null_mut()),
        });
        Self {
            executable,
            map,
            name,
        }
    }

    fn pointer(&self) -> *mut LinkMap {
        std::ptr::from_ref(&*self.map).cast_mut()
    }
}

/// Makes the list from the entries.
fn link(entries: &[Entry]) {
    let at = |index: Option<usize>| {
        index
            .and_then(|i| entries.get(i))
            .map_or(null_mut(), Entry::pointer)
    };
    for (index, entry) in entries.iter().enumerate() {
        entry.map.next.store(at(Some(index + 1)), Ordering::Relaxed);
        entry
            .map
            .previous
            .store(at(index.checked_sub(1)), Ordering::Relaxed);
    }
    R_DEBUG.map.store(at(Some(0)), Ordering::Release);
}

/// Changes the list, with the calls that a debugger waits for. What is taken out is dropped when it is out of sight.
fn change(kind: i32, with: impl FnOnce(&mut Vec<Entry>) -> Vec<Entry>) {
    let mut entries = ENTRIES.lock();
    R_DEBUG.state.store(kind, Ordering::Release);
    (R_DEBUG.breakpoint)();
    let gone = with(&mut entries);
    link(&entries);
    R_DEBUG.state.store(state::CONSISTENT, Ordering::Release);
    (R_DEBUG.breakpoint)();
    drop(gone);
}

/// Enters the code objects of an executable that was frozen.
pub(crate) fn add(runtime: &Runtime, executable: u64) -> Result<()> {
    let live = runtime.executable(executable)?;
    let objects = live.executable.loaded_code_objects();
    if !objects.is_empty() {
        let new = objects
            .iter()
            .map(|object| Entry::new(executable, object.reader().uri(), object.delta()));
        enter(new);
    }
    Ok(())
}

fn enter(new: impl Iterator<Item = Entry>) {
    change(state::ADD, |entries| {
        entries.extend(new);
        Vec::new()
    });
}

/// Takes out the code objects of an executable that is about to be destroyed.
pub(crate) fn remove(executable: u64) {
    take_out(|entry| entry.executable == executable);
}

/// Takes out everything: the runtime stops.
pub(crate) fn clear() {
    take_out(|_| true);
}

fn take_out(is_gone: impl Fn(&Entry) -> bool) {
    let any = ENTRIES.lock().iter().any(&is_gone);
    if any {
        change(state::DELETE, |entries| {
            let (gone, kept) = std::mem::take(entries)
                .into_iter()
                .partition(|entry| is_gone(entry));
            *entries = kept;
            gone
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CStr;

    /// The list as a debugger walks it.
    fn walk() -> Vec<(String, usize)> {
        let mut found = Vec::new();
        let mut at = R_DEBUG.map.load(Ordering::Acquire);
        while !at.is_null() {
            // SAFETY: nothing is removed while a test walks.
            let map = unsafe { &*at };
            // SAFETY: the name lives as long as its entry.
            let name = unsafe { CStr::from_ptr(map.name.load(Ordering::Relaxed)) };
            found.push((name.to_str().unwrap().to_owned(), map.difference));
            let next = map.next.load(Ordering::Relaxed);
            // SAFETY: as above.
            let back = unsafe { next.as_ref() }.map(|next| next.previous.load(Ordering::Relaxed));
            assert!(back.is_none_or(|back| back == at));
            at = next;
        }
        found
    }

    #[test]
    fn a_debugger_sees_what_is_loaded_until_it_is_destroyed() {
        let entry = |executable, uri: &str| Entry::new(executable, uri, executable * 0x1000);
        enter([entry(1, "file:///a"), entry(1, "file:///b")].into_iter());
        enter([entry(2, "memory://7#offset=0x10&size=4")].into_iter());
        let names = |list: Vec<(String, usize)>| list.into_iter().map(|(name, _)| name).collect::<Vec<_>>();
        assert_eq!(walk()[2], ("memory://7#offset=0x10&size=4".to_owned(), 0x2000));
        remove(3);
        assert_eq!(walk().len(), 3);
        remove(1);
        assert_eq!(names(walk()), ["memory://7#offset=0x10&size=4"]);
        clear();
        assert!(walk().is_empty());
        assert_eq!(R_DEBUG.state.load(Ordering::Relaxed), state::CONSISTENT);
    }
}
