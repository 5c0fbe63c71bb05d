//! Signals that several processes share (`HSA_AMD_SIGNAL_IPC`).
//!
//! Such a signal has a page to itself, of a memory file that every process with the signal maps. The page begins with
//! the signal's block, so its handle is an address like any other's; the pages lie in an arena of their own, so that
//! a handle shows by arithmetic that the block is shared. Nothing that this process relies on is in the shared page:
//! whether the handle is live and how many hold it is kept beside, for another process may write what it likes.
//!
//! Each process that attaches a signal has it until it destroys its own handle, whatever the others do.

use super::block::{flag, Block, BLOCK_BYTES, KIND_USER, TAG};
use crate::error::{Error, Result};
use crate::ipc::{self, Export, MemoryFile, Name, Offer, Thing};
use crate::memory::arena::Arena;
use crate::memory::host::page_bytes;
use crate::runtime::Runtime;
use hansa_plugin_api::fork::Lazy;
use hansa_plugin_api::sync::Mutex;
use rustix::mm::{mmap_anonymous, MapFlags, ProtFlags};
use std::collections::HashMap;
use std::os::fd::{BorrowedFd, FromRawFd, IntoRawFd, OwnedFd};
use std::sync::atomic::{AtomicI32, AtomicU32, AtomicUsize, Ordering};

/// Most shared signals of a process.
const MOST: usize = 4096;

/// The pages, of the size that the system has.
static ARENA: Lazy<Arena> = Lazy::new(|| Arena::new(page_bytes(), MOST));
/// What this process knows of each page: 0 for none, otherwise [`USED`], [`LIVE`] and references.
static KEPT: [AtomicU32; MOST] = [const { AtomicU32::new(0) }; MOST];
/// The memory file of each page.
static FILES: [AtomicI32; MOST] = [const { AtomicI32::new(-1) }; MOST];
/// Where to look for a free page first.
static NEXT: AtomicUsize = AtomicUsize::new(0);

/// The page is taken.
const USED: u32 = 1 << 30;
/// The program's handle is live; one of the references.
const LIVE: u32 = 1 << 31;
/// The references.
const REFERENCES: u32 = USED - 1;

/// Registrations of shared signals with the drivers of a runtime: index and name, by address.
#[derive(Debug, Default)]
pub struct Shown(Mutex<HashMap<u64, Vec<(usize, hansa_plugin_api::MemoryHandle)>>>);

/// The live shared signal at an address.
#[cold]
pub(super) fn live(address: usize) -> Option<&'static Block> {
    let known = ARENA.holds(address) && KEPT[ARENA.index_of(address)].load(Ordering::Acquire) & LIVE != 0;
    known.then(|| Block::at(address))
}

/// Whether a block is in a page that other processes may have, too.
#[inline]
pub(super) fn is_shared(block: &Block) -> bool {
    ARENA.holds(std::ptr::from_ref(block).addr())
}

fn index_of(block: &Block) -> usize {
    ARENA.index_of(std::ptr::from_ref(block).addr())
}

fn descriptor(index: usize) -> Option<BorrowedFd<'static>> {
    let descriptor = FILES[index].load(Ordering::Acquire);
    // SAFETY: the descriptor is the page's for as long as the caller has a reference to the signal.
    (descriptor >= 0).then(|| unsafe { BorrowedFd::borrow_raw(descriptor) })
}

/// Takes a free page, whose state is then [`USED`].
fn take() -> Result<usize> {
    if ARENA.committed_slots() == 0 {
        // Twice at once does no harm: it makes the same pages usable.
        ARENA.commit(MOST)?;
    }
    let first = NEXT.load(Ordering::Relaxed);
    (first..first + MOST)
        .map(|index| index % MOST)
        .find(|&index| {
            KEPT[index]
                .compare_exchange(0, USED, Ordering::Acquire, Ordering::Relaxed)
                .is_ok()
        })
        .inspect(|index| NEXT.store(index + 1, Ordering::Relaxed))
        .ok_or(Error::OutOfResources("shared signals"))
}

/// Gives a page back that nobody refers to any more.
fn give_back(index: usize) {
    let place = std::ptr::with_exposed_provenance_mut(ARENA.address_of(index));
    let flags = MapFlags::PRIVATE | MapFlags::FIXED | MapFlags::NORESERVE;
    // SAFETY: the page is the arena's and nobody's signal; what replaces it can be read like it.
    let replaced = unsafe { mmap_anonymous(place, page_bytes(), ProtFlags::READ | ProtFlags::WRITE, flags) };
    let file = FILES[index].swap(-1, Ordering::AcqRel);
    if file >= 0 {
        // SAFETY: the descriptor was the page's alone.
        drop(unsafe { OwnedFd::from_raw_fd(file) });
    }
    // A page that cannot be replaced stays with the others' and is not used again.
    if replaced.is_ok() {
        KEPT[index].store(0, Ordering::Release);
    }
}

/// Maps a file as a signal's page and shows it to the devices. The page is the program's only when the caller says so.
fn map(runtime: &Runtime, file: MemoryFile) -> Result<(usize, &'static Block)> {
    super::wait::share();
    let index = take()?;
    let address = ARENA.address_of(index);
    // SAFETY: the page is the arena's and nobody's signal, and a page is what the file has.
    let mapped = unsafe { file.map_over(address, file.bytes(), ProtFlags::READ | ProtFlags::WRITE) };
    FILES[index].store(OwnedFd::from(file).into_raw_fd(), Ordering::Release);
    if let Err(error) = mapped.and_then(|()| show(runtime, address)) {
        give_back(index);
        return Err(error);
    }
    Ok((index, Block::at(address)))
}

fn show(runtime: &Runtime, address: usize) -> Result<()> {
    let registrations = runtime.register_with_all(address as u64, page_bytes() as u64)?;
    let mut shown = runtime.shown_signals.0.lock();
    shown.insert(address as u64, registrations);
    Ok(())
}

/// Shows a new runtime's devices the shared signals that outlived an earlier runtime.
pub(crate) fn show_all(runtime: &Runtime) -> Result<()> {
    (0..MOST)
        .filter(|&index| KEPT[index].load(Ordering::Acquire) & LIVE != 0)
        .try_for_each(|index| show(runtime, ARENA.address_of(index)))
}

/// Makes a signal that other processes can attach.
///
/// # Errors
///
/// [`Error::OutOfResources`] when memory, descriptors or pages are at their end.
pub fn create(runtime: &Runtime, initial: i64, flags: u32) -> Result<u64> {
    let (index, block) = map(runtime, MemoryFile::new("hansa-signal", page_bytes() as u64)?)?;
    block.value.store(initial, Ordering::Relaxed);
    block.flags.store(flags | flag::IPC, Ordering::Relaxed);
    block.kind.store(KIND_USER, Ordering::Relaxed);
    block.tag.store(TAG, Ordering::Release);
    KEPT[index].store(USED | LIVE | 1, Ordering::Release);
    Ok(block.handle())
}

/// Names a signal for other processes.
///
/// # Errors
///
/// [`Error::InvalidArgument`] for a signal that is not shared; [`Error::OutOfResources`].
pub fn export(runtime: &Runtime, block: &Block) -> Result<[u32; 8]> {
    if !is_shared(block) {
        return Err(Error::InvalidArgument(
            "the signal was not made for other processes",
        ));
    }
    let address = block.handle();
    runtime.exchange.name(Thing::Signal, address, || {
        let descriptor = descriptor(index_of(block))
            .and_then(|file| file.try_clone_to_owned().ok())
            .ok_or(Error::OutOfResources("a file descriptor"))?;
        Ok(Export {
            address,
            offer: Offer::signal(page_bytes() as u64),
            descriptor: Some(descriptor),
        })
    })
}

/// Attaches another process's signal. Each call answers a handle of its own.
///
/// # Errors
///
/// [`Error::InvalidArgument`] for a stale or made-up name; [`Error::OutOfResources`].
pub fn attach(runtime: &Runtime, words: [u32; 8]) -> Result<u64> {
    let name = Name::of_words(words)
        .filter(|name| name.thing == Thing::Signal)
        .ok_or(Error::InvalidArgument("not the name of a signal"))?;
    let (_, descriptor) = ipc::ask(name)?;
    let file = descriptor
        .and_then(MemoryFile::of)
        .filter(|file| file.bytes() == page_bytes() as u64)
        .ok_or(Error::InvalidArgument("what the name stands for is no signal"))?;
    let (index, block) = map(runtime, file)?;
    if block.tag.load(Ordering::Acquire) != TAG {
        withdraw(runtime, block);
        give_back(index);
        return Err(Error::InvalidArgument("what the name stands for is no signal"));
    }
    KEPT[index].store(USED | LIVE | 1, Ordering::Release);
    Ok(block.handle())
}

/// Takes a reference.
pub(super) fn retain(block: &Block) {
    KEPT[index_of(block)].fetch_add(1, Ordering::Relaxed);
}

/// Ends the program's hold. Answers whether it had one.
pub(super) fn retire(block: &'static Block) -> bool {
    let before = KEPT[index_of(block)].fetch_and(!LIVE, Ordering::AcqRel);
    if before & LIVE == 0 {
        return false;
    }
    release(block);
    true
}

/// Gives a reference back; the last one gives the page back.
pub(super) fn release(block: &'static Block) {
    let index = index_of(block);
    if KEPT[index].fetch_sub(1, Ordering::AcqRel) & REFERENCES == 1 {
        // Without a runtime there are no devices that see it and no names.
        if let Ok(runtime) = crate::runtime::current() {
            withdraw(&runtime, block);
        }
        give_back(index);
    }
}

/// Hides a page from devices and from other processes.
fn withdraw(runtime: &Runtime, block: &Block) {
    runtime.exchange.withdraw(Thing::Signal, block.handle());
    let shown = runtime.shown_signals.0.lock().remove(&block.handle());
    if let Some(registrations) = shown {
        runtime.deregister(&registrations);
    }
}

// No system has smaller pages.
const _: () = assert!(BLOCK_BYTES <= 4096);
