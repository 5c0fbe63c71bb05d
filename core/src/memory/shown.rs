//! Pages of the runtime that the devices of one driver see.

use super::host::{page_bytes, whole_pages, HostOptions, Pages};
use crate::error::{Error, Result};
use crate::runtime::Runtime;
use hansa_plugin_api as api;

/// Such pages; they stay until [`ShownPages::take_back`].
#[derive(Debug)]
pub(crate) struct ShownPages {
    pub(crate) address: usize,
    pages: Pages,
    registrations: Vec<(usize, api::MemoryHandle)>,
}

impl ShownPages {
    /// Maps zeroed pages for at least so many bytes and shows them to a driver's devices.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfResources`], and what the driver says.
    pub(crate) fn new(runtime: &Runtime, driver: usize, bytes: usize) -> Result<Self> {
        let bytes = whole_pages(bytes).ok_or(Error::OutOfResources("host memory"))?;
        let pages = Pages::map(bytes, page_bytes(), HostOptions::default())?;
        match runtime.register_with(
            &[driver],
            pages.address as u64,
            pages.bytes as u64,
            api::AllocFlags::FINE_GRAIN,
        ) {
            Ok(registrations) => Ok(Self {
                address: pages.address,
                pages,
                registrations,
            }),
            Err(error) => {
                // SAFETY: nobody was told of them.
                unsafe { pages.unmap() };
                Err(error)
            }
        }
    }

    /// Unmaps them, for devices and for the host.
    ///
    /// # Safety
    ///
    /// Nobody uses them any more, no device either, and they were not taken back before.
    pub(crate) unsafe fn take_back(&self, runtime: &Runtime) {
        runtime.deregister(&self.registrations);
        // SAFETY: the caller's.
        unsafe { self.pages.unmap() };
    }
}
