//! Who is told when a queue stops: the program's function for the queue, or, where several names stand for one
//! queue, the function of each name.

use hansa_plugin_api::sync::Mutex;

/// The program's function for errors of a queue.
#[derive(Clone, Copy, Debug)]
pub struct ErrorCallback {
    /// The function: status, queue (an `hsa_queue_t`), data.
    pub function: unsafe extern "C" fn(u32, *mut libc::c_void, *mut libc::c_void),
    /// Its third argument.
    pub data: usize,
}

/// The functions to call, each with the queue that the program knows.
#[derive(Debug, Default)]
pub(super) struct Listeners(Mutex<Vec<(u64, ErrorCallback)>>);

impl Listeners {
    /// Tells the program about `queue` from now on.
    pub(super) fn add(&self, queue: u64, callback: Option<ErrorCallback>) {
        if let Some(callback) = callback {
            self.0.lock().push((queue, callback));
        }
    }

    /// Tells the program no more about `queue`.
    pub(super) fn remove(&self, queue: u64) {
        self.0.lock().retain(|(of, _)| *of != queue);
    }

    /// Calls all functions. Answers whether there was one.
    pub(super) fn tell(&self, status: u32) -> bool {
        let listeners = self.0.lock().clone();
        for (queue, callback) in &listeners {
            let data = std::ptr::with_exposed_provenance_mut(callback.data);
            let queue = std::ptr::with_exposed_provenance_mut(usize::try_from(*queue).unwrap_or(0));
            // SAFETY: the program gave this function for exactly this call.
            unsafe { (callback.function)(status, queue, data) };
        }
        !listeners.is_empty()
    }
}
