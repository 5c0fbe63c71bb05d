//! The program's own buffers, registered (`hsa_memory_register`): devices use them where they lie.
//!
//! HSA takes a registration for a hint. Agents of the full profile use memory of the program unasked, and their drivers
//! refuse what is asked for here as needless; the others would fault on it, so the runtime lets them see the buffer. Nothing
//! of that can fail for the program: what cannot be shown is what it would have been without the call.

use super::host::{is_mapped, page_bytes};
use crate::runtime::Runtime;
use hansa_plugin_api as api;
use hansa_plugin_api::sync::Mutex;
use std::collections::HashMap;

/// What drivers were told of one registration.
type Shown = Vec<(usize, api::MemoryHandle)>;

/// The registrations of a runtime, by address and bytes; a buffer may be registered several times.
#[derive(Debug, Default)]
pub struct OwnBuffers {
    shown: Mutex<HashMap<(u64, u64), Vec<Shown>>>,
}

/// The whole pages of a range: their address and bytes.
fn pages_of(address: u64, bytes: u64) -> Option<(u64, u64)> {
    let page = page_bytes() as u64;
    let start = address & !(page - 1);
    let end = address.checked_add(bytes)?.checked_next_multiple_of(page)?;
    (address != 0 && bytes != 0).then_some((start, end - start))
}

impl Runtime {
    /// Lets devices see a buffer of the program, if it is there and no device sees it yet.
    pub fn register_own(&self, address: u64, bytes: u64) {
        let Some((start, length)) = pages_of(address, bytes) else {
            return;
        };
        let narrow = |value: u64| usize::try_from(value).unwrap_or(usize::MAX);
        let of_the_runtime = |at: u64| {
            self.memory
                .find(at)
                .is_some_and(|found| found.kind.is_allocated())
        };
        if of_the_runtime(address) || !is_mapped(narrow(start), narrow(length)) {
            return;
        }
        if let Ok(shown) = self.register_with_all(start, length) {
            let mut table = self.own_buffers.shown.lock();
            table.entry((address, bytes)).or_default().push(shown);
        }
    }

    /// Takes back one registration of exactly this buffer; anything else is left alone.
    pub fn deregister_own(&self, address: u64, bytes: u64) {
        let mut table = self.own_buffers.shown.lock();
        let Some(held) = table.get_mut(&(address, bytes)) else {
            return;
        };
        let last = held.pop();
        if held.is_empty() {
            table.remove(&(address, bytes));
        }
        drop(table);
        self.deregister(&last.unwrap_or_default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_is_shown_in_whole_pages() {
        let page = page_bytes() as u64;
        assert_eq!(pages_of(4 * page + 1, 3), Some((4 * page, page)));
        assert_eq!(pages_of(4 * page - 1, 2), Some((3 * page, 2 * page)));
        assert_eq!(pages_of(page, page), Some((page, page)));
    }

    #[test]
    fn nothing_and_what_passes_the_end_of_all_addresses_are_no_buffers() {
        assert_eq!(pages_of(0, 4096), None);
        assert_eq!(pages_of(4096, 0), None);
        assert_eq!(pages_of(4096, u64::MAX), None);
        assert_eq!(pages_of(u64::MAX - 8, 8), None);
    }
}
