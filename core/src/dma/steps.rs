//! Operations of a batch beyond plain copies: exchanges, copies from or to where a pointer in memory points, and the words
//! of memory around an operation, one that it waits for and one that it changes at its end.
//!
//! AMD's newest copy engines do these by themselves. Here a thread of the runtime does, so the words have to be memory
//! that the host sees.

use super::Copy;
use crate::error::{Error, Result};
use crate::memory::AllocationKind;
use crate::runtime::Runtime;
use hansa_plugin_api as api;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

/// Bytes that an exchange moves at a time.
const EXCHANGED: u64 = 1 << 20;
/// Bytes of a word.
const WORD: u64 = 8;

/// One thing that a job does.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// Copies or fills.
    Copy(Copy),
    /// Exchanges what is at the two ends.
    Swap(Copy),
    /// Copies, after it has read one or both addresses.
    Indirect {
        /// The copy, without those addresses.
        copy: Copy,
        /// Where the address of the source is.
        source: Option<Word>,
        /// Where the address of the destination is.
        destination: Option<Word>,
    },
}

impl Step {
    pub(super) fn bytes(&self) -> u64 {
        match self {
            Self::Copy(copy) | Self::Swap(copy) | Self::Indirect { copy, .. } => copy.bytes(),
        }
    }
}

/// A word of memory that the program keeps until the operation is over.
#[derive(Clone, Copy, Debug)]
pub struct Word(usize);

impl Word {
    /// The word at an address.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] where no aligned word is mapped, [`Error::NotSupported`] for one that only a device sees.
    pub fn at(runtime: &Runtime, address: u64) -> Result<Self> {
        let hidden = runtime
            .memory
            .find(address)
            .is_some_and(|found| matches!(found.kind, AllocationKind::Device { .. }) && found.host_base == 0);
        if hidden {
            return Err(Error::NotSupported("words of memory that the host does not see"));
        }
        usize::try_from(runtime.on_host(address))
            .ok()
            .filter(|address| (*address as u64).is_multiple_of(WORD) && is_mapped(*address))
            .map(Self)
            .ok_or(Error::InvalidArgument("not the address of a 64-bit word"))
    }

    fn word(&self) -> &AtomicU64 {
        // SAFETY: an aligned word that was mapped when the operation was submitted, and that the program keeps.
        unsafe { AtomicU64::from_ptr(std::ptr::with_exposed_provenance_mut(self.0)) }
    }

    fn load(&self) -> u64 {
        self.word().load(Ordering::Acquire)
    }
}

/// Whether a word can be read, as the kernel says; what it does not want to say is the program's business.
fn is_mapped(address: usize) -> bool {
    let mut word = [0_u8; 8];
    let here = libc::iovec {
        iov_base: word.as_mut_ptr().cast(),
        iov_len: word.len(),
    };
    let there = libc::iovec {
        iov_base: std::ptr::with_exposed_provenance_mut(address),
        iov_len: word.len(),
    };
    let own = rustix::process::getpid().as_raw_nonzero().get();
    // SAFETY: the kernel checks the address that is read; what is read goes to a variable of that size.
    let read = unsafe { libc::process_vm_readv(own, &raw const here, 1, &raw const there, 1, 0) };
    read == 8 || std::io::Error::last_os_error().raw_os_error() != Some(libc::EFAULT)
}

/// The words around an operation.
#[derive(Clone, Copy, Debug, Default)]
pub struct Gate {
    wait: Option<(Word, api::CopyWait)>,
    change: Option<(Word, api::CopySignal)>,
}

impl Gate {
    /// What an operation waits for, and what it changes.
    ///
    /// # Errors
    ///
    /// As [`Word::at`].
    pub fn new(runtime: &Runtime, wait: api::CopyWait, change: api::CopySignal) -> Result<Self> {
        let word = |wanted: bool, address| wanted.then(|| Word::at(runtime, address)).transpose();
        Ok(Self {
            wait: word(wait.function != 0, wait.address)?.map(|word| (word, wait)),
            change: word(change.operation != 0, change.address)?.map(|word| (word, change)),
        })
    }

    /// Whether there is nothing to wait for any more.
    pub(super) fn is_open(&self) -> bool {
        self.wait
            .as_ref()
            .is_none_or(|(word, wait)| holds(wait, word.load()))
    }

    /// Whether memory decides when the operation begins: nobody tells of its changes.
    pub(super) fn is_watched(&self) -> bool {
        self.wait.is_some()
    }

    /// The operation is over.
    pub(super) fn pass(&self) {
        let Some((word, change)) = &self.change else {
            return;
        };
        let (word, data) = (word.word(), change.data);
        match change.operation {
            1 => word.store(data, Ordering::Release),
            2 => drop(word.fetch_add(data, Ordering::AcqRel)),
            _ => drop(word.fetch_sub(data, Ordering::AcqRel)),
        }
    }
}

/// Whether the bits of a value that matter compare as wanted (`hsa_amd_memory_copy_wait_function_t`).
fn holds(wait: &api::CopyWait, value: u64) -> bool {
    let (value, wanted) = (value & wait.mask, wait.value);
    match wait.function {
        1 => value < wanted,
        2 => value <= wanted,
        3 => value == wanted,
        4 => value != wanted,
        5 => value >= wanted,
        6 => value > wanted,
        _ => true,
    }
}

impl Runtime {
    /// Does a step now.
    ///
    /// # Errors
    ///
    /// As [`Runtime::copy_now`].
    pub(super) fn step_now(self: &Arc<Self>, step: &Step) -> Result<()> {
        match *step {
            Step::Copy(copy) => self.copy_now(&copy),
            Step::Swap(copy) => self.exchange_now(&copy),
            Step::Indirect {
                mut copy,
                source,
                destination,
            } => {
                if let Some(word) = source {
                    copy.request.source = word.load();
                }
                if let Some(word) = destination {
                    copy.request.destination = word.load();
                }
                self.copy_now(&copy)
            }
        }
    }

    /// Exchanges two linear ranges, through host memory that devices see.
    fn exchange_now(self: &Arc<Self>, copy: &Copy) -> Result<()> {
        let region = self
            .regions
            .iter()
            .position(|region| region.is_host() && region.can_allocate())
            .ok_or(Error::OutOfResources("host memory"))?;
        let between = self.allocate(region, copy.bytes().clamp(1, EXCHANGED), 0)?;
        let done = self.exchange_through(copy, between, self.regions[region].agent);
        self.free(between).and(done)
    }

    fn exchange_through(self: &Arc<Self>, copy: &Copy, between: u64, host: usize) -> Result<()> {
        let (one, other) = (copy.request.source, copy.request.destination);
        let mut at = 0;
        while at < copy.bytes() {
            let bytes = (copy.bytes() - at).min(EXCHANGED);
            let part = |(to, to_agent), (from, from_agent)| {
                self.copy_now(&Copy {
                    request: api::CopyRequest::linear(0, to, from, bytes),
                    destination_agent: to_agent,
                    source_agent: from_agent,
                })
            };
            let one = (one + at, copy.source_agent);
            let other = (other + at, copy.destination_agent);
            let between = (between, host);
            part(between, one)?;
            part(one, other)?;
            part(other, between)?;
            at += bytes;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bits_that_matter_are_compared_as_numbers_without_sign() {
        let of = |function, mask| api::CopyWait {
            function,
            mask,
            value: 5,
            ..api::CopyWait::default()
        };
        let outcomes = |value| [0, 1, 2, 3, 4, 5, 6].map(|function| holds(&of(function, u64::MAX), value));
        assert_eq!(outcomes(4), [true, true, true, false, true, false, false]);
        assert_eq!(outcomes(5), [true, false, true, true, false, true, false]);
        assert_eq!(outcomes(u64::MAX), [true, false, false, false, true, true, true]);
        assert!(holds(&of(3, 0xf), 0x35) && !holds(&of(3, 0x3f), 0x35));
    }

    #[test]
    fn a_word_is_where_memory_is() {
        let word = 7_u64;
        assert!(is_mapped(std::ptr::from_ref(&word).addr()));
        assert!(!is_mapped(0x1000) && !is_mapped(usize::MAX & !7));
    }
}
