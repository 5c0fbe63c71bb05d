//! Code object readers (HSA Runtime PRM 1.2, section 2.8).

use crate::entry::{entry, not_null, Place};
use hansa_core::loader::{CodeObjectReader, MemoryUri};
use hansa_core::runtime::Runtime;
use hansa_core::{current, Error, Result};
use hansa_plugin_api::hsa::{c_void, hsa_code_object_reader_t, hsa_file_t};
use std::os::fd::BorrowedFd;
use std::sync::Arc;

/// Memory of the program, which the interface says outlives all that is made of it.
#[derive(Debug)]
struct ProgramBytes {
    address: usize,
    bytes: usize,
}

impl AsRef<[u8]> for ProgramBytes {
    fn as_ref(&self) -> &[u8] {
        let pointer = std::ptr::with_exposed_provenance(self.address);
        // SAFETY: the program says that a code object of this size is there and stays.
        unsafe { std::slice::from_raw_parts(pointer, self.bytes) }
    }
}

/// A file of the program, for the length of a call.
pub(crate) fn file<'a>(descriptor: hsa_file_t) -> Result<BorrowedFd<'a>> {
    if descriptor < 0 {
        return Err(Error::InvalidFile);
    }
    // SAFETY: not -1; whether it is open is what the first system call with it finds out.
    Ok(unsafe { BorrowedFd::borrow_raw(descriptor) })
}

/// Which mappings make memory of the program a part of a file.
fn memory_uri(runtime: &Runtime) -> MemoryUri {
    if runtime.config.settings.hsa.loader_enable_mmap_uri.value {
        MemoryUri::AnyMapping
    } else {
        MemoryUri::LoadedObjects
    }
}

entry! {
    fn hsa_code_object_reader_create_from_file(file_: hsa_file_t, code_object_reader: *mut hsa_code_object_reader_t) {
        let runtime = current()?;
        let place = Place::new(code_object_reader)?;
        let reader = CodeObjectReader::from_file(file(file_)?)?;
        place.set(hsa_code_object_reader_t { handle: runtime.add_reader(reader)? });
        Ok(())
    }

    fn hsa_code_object_reader_create_from_memory(
        code_object: *const c_void,
        size: usize,
        code_object_reader: *mut hsa_code_object_reader_t,
    ) {
        let runtime = current()?;
        not_null(code_object)?;
        let place = Place::new(code_object_reader)?;
        if size == 0 {
            return Err(Error::InvalidArgument("a code object has at least one byte"));
        }
        let bytes = ProgramBytes { address: code_object.expose_provenance(), bytes: size };
        let reader = CodeObjectReader::from_memory(Arc::new(bytes), memory_uri(&runtime));
        place.set(hsa_code_object_reader_t { handle: runtime.add_reader(reader)? });
        Ok(())
    }

    fn hsa_code_object_reader_destroy(code_object_reader: hsa_code_object_reader_t) {
        current()?.destroy_reader(code_object_reader.handle)
    }
}
