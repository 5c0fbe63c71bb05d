//! Tools that the program has loaded already, by linking, preloading or `dlopen`: a library is one when it defines the
//! 32-bit number `HSA_AMD_TOOL_PRIORITY`, which says in which order they come.

use super::library::Library;
use std::ffi::{c_int, c_void, CStr};
use std::ops::Range;

/// Where a loaded object lies.
#[derive(Debug)]
struct Object {
    name: String,
    segments: Vec<Range<usize>>,
}

/// The tools among the loaded objects, by rising priority.
pub(super) fn tools() -> Vec<Library> {
    let mut tools: Vec<(u32, Library)> = objects()
        .into_iter()
        .filter_map(|object| {
            let library = Library::loaded(&object.name)?;
            // The dynamic linker looks through what an object depends on, too.
            let address = library.address(c"HSA_AMD_TOOL_PRIORITY")?;
            let place: *const u32 = std::ptr::with_exposed_provenance(address);
            let own = object.segments.iter().any(|segment| segment.contains(&address));
            // SAFETY: by its name it is such a number, in an object that is loaded.
            own.then(|| (unsafe { place.read_unaligned() }, library))
        })
        .collect();
    tools.sort_by_key(|(priority, _)| *priority);
    tools.into_iter().map(|(_, library)| library).collect()
}

fn objects() -> Vec<Object> {
    let mut objects: Vec<Object> = Vec::new();
    // SAFETY: the function has the type that is asked for, and `objects` outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(add), (&raw mut objects).cast()) };
    objects
}

/// Adds one object to the list.
unsafe extern "C" fn add(info: *mut libc::dl_phdr_info, _size: usize, list: *mut c_void) -> c_int {
    // SAFETY: the dynamic linker gives a description that stays for the call.
    let info = unsafe { &*info };
    // SAFETY: `objects` gave its list.
    let list = unsafe { &mut *list.cast::<Vec<Object>>() };
    let name = if info.dlpi_name.is_null() {
        String::new()
    } else {
        // SAFETY: the dynamic linker's names end in a NUL.
        unsafe { CStr::from_ptr(info.dlpi_name) }
            .to_string_lossy()
            .into_owned()
    };
    let headers = if info.dlpi_phdr.is_null() {
        &[]
    } else {
        // SAFETY: the dynamic linker says how many headers there are.
        unsafe { std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) }
    };
    let place = |header: &libc::Elf64_Phdr| {
        let start = usize::try_from(info.dlpi_addr.wrapping_add(header.p_vaddr)).ok()?;
        Some(start..start.checked_add(usize::try_from(header.p_memsz).ok()?)?)
    };
    let segments = headers
        .iter()
        .filter(|header| header.p_type == libc::PT_LOAD)
        .filter_map(place)
        .collect();
    list.push(Object { name, segments });
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_objects_of_this_process_are_known_with_their_places() {
        let here = tools as *const () as usize;
        let objects = objects();
        let own = objects
            .iter()
            .find(|o| o.segments.iter().any(|s| s.contains(&here)));
        assert!(own.is_some_and(|object| Library::loaded(&object.name).is_some()));
        assert!(objects.iter().any(|object| object.name.contains("libc.so")));
    }
}
