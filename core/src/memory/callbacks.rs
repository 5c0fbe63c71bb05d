//! Functions that programs want called when an allocation ends.

use hansa_plugin_api::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// A function to call when an allocation is freed.
#[derive(Clone, Copy, Debug)]
pub struct FreeCallback {
    /// The function.
    pub function: unsafe extern "C" fn(*mut libc::c_void, *mut libc::c_void),
    /// Its first argument: the address that was registered.
    pub address: u64,
    /// Its second argument.
    pub data: usize,
}

/// The functions of an allocation, which has none most of the time.
#[derive(Debug, Default)]
pub struct Callbacks {
    /// There was one once.
    some: AtomicBool,
    list: Mutex<Vec<FreeCallback>>,
}

impl Callbacks {
    /// Adds one.
    pub fn push(&self, callback: FreeCallback) {
        let mut list = self.list.lock();
        list.push(callback);
        self.some.store(true, Ordering::Release);
    }

    /// Takes out one that was added with this function and address. Answers whether there was one.
    pub fn remove(&self, address: u64, function: usize) -> bool {
        let mut list = self.list.lock();
        let index = list
            .iter()
            .position(|c| c.function as usize == function && c.address == address);
        index.map(|index| list.remove(index)).is_some()
    }

    /// Whether there was never one.
    pub fn are_none(&self) -> bool {
        !self.some.load(Ordering::Acquire)
    }

    /// Takes out all, without a lock if there was never one.
    pub fn take(&self) -> Vec<FreeCallback> {
        if self.are_none() {
            return Vec::new();
        }
        std::mem::take(&mut *self.list.lock())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    unsafe extern "C" fn nothing(_: *mut libc::c_void, _: *mut libc::c_void) {}

    #[test]
    fn what_was_added_comes_out_once_and_in_order() {
        let callbacks = Callbacks::default();
        assert!(callbacks.take().is_empty());
        let function = nothing as *const () as usize;
        for data in 0..3 {
            callbacks.push(FreeCallback {
                function: nothing,
                address: 64 + data as u64 % 2,
                data,
            });
        }
        assert!(callbacks.remove(65, function));
        assert!(!callbacks.remove(65, function));
        let left: Vec<_> = callbacks.take().iter().map(|callback| callback.data).collect();
        assert_eq!(left, [0, 2]);
        assert!(callbacks.take().is_empty());
    }
}
