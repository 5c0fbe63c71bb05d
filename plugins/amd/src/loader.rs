//! The loader extension 1.4: where code comes from and where it is. Reached by table only.

use crate::args::{address, narrow, pointer};
use crate::callbacks::{iterate, required};
use crate::entry::{argument, ensure, entries};
use hansa_plugin_api::hsa::{
    c_char, hsa_agent_t, hsa_code_object_reader_t, hsa_executable_t, hsa_file_t, hsa_loaded_code_object_t,
    hsa_status_t, hsa_ven_amd_loader_code_object_storage_type_t as Storage,
    hsa_ven_amd_loader_loaded_code_object_info_t, hsa_ven_amd_loader_segment_descriptor_t,
    ExecutableCallback, LoadedCodeObjectCallback,
};
use hansa_plugin_api::{LoadAtRequest, SegmentDescriptor};
use std::ffi::c_void;

entries! {
    /// Where the host can read what an agent sees at an address.
    fn hsa_ven_amd_loader_query_host_address(
        call; device_address: *const c_void, host_address: *mut *const c_void,
    ) {
        let result = call.out(host_address)?;
        argument(!device_address.is_null())?;
        let host = call.loader()?.host_address(address(device_address))?;
        result.set(pointer::<c_void>(host).cast_const());
        Ok(())
    }

    /// The loaded segments, or their number: which of the two is asked for says the list, and the number must fit.
    fn hsa_ven_amd_loader_query_segment_descriptors(
        call; segment_descriptors: *mut hsa_ven_amd_loader_segment_descriptor_t, num_segment_descriptors: *mut usize,
    ) {
        let expected = call.read(num_segment_descriptors)?;
        argument(segment_descriptors.is_null() == (expected == 0))?;
        let segments = call.loader()?.segments()?;
        if segment_descriptors.is_null() {
            call.out(num_segment_descriptors)?.set(segments.len());
            return Ok(());
        }
        ensure(segments.len() == expected, hsa_status_t::ERROR_INCOMPATIBLE_ARGUMENTS)?;
        let descriptors: Vec<_> = segments.iter().map(segment).collect();
        call.value(segment_descriptors.cast())?.put_all(&descriptors);
        Ok(())
    }

    /// The executable around a device address.
    fn hsa_ven_amd_loader_query_executable(
        call; device_address: *const c_void, executable: *mut hsa_executable_t,
    ) {
        let result = call.out(executable)?;
        argument(!device_address.is_null())?;
        result.set(hsa_executable_t { handle: call.loader()?.executable_at(address(device_address))? });
        Ok(())
    }

    /// Shows an executable's code objects to a callback.
    fn hsa_ven_amd_loader_executable_iterate_loaded_code_objects(
        call; executable: hsa_executable_t, callback: LoadedCodeObjectCallback, data: *mut c_void,
    ) {
        let callback = required(callback)?;
        let code_objects = call.loader()?.loaded_code_objects(executable.handle)?;
        iterate(code_objects, |handle| {
            // SAFETY: the program's function, called as its contract says.
            unsafe { callback(executable, hsa_loaded_code_object_t { handle }, data) }
        })
    }

    /// An attribute of a loaded code object. The URI comes without a NUL: its length is an attribute of its own.
    fn hsa_ven_amd_loader_loaded_code_object_get_info(
        call; loaded_code_object: hsa_loaded_code_object_t, attribute: hsa_ven_amd_loader_loaded_code_object_info_t,
        value: *mut c_void,
    ) {
        use hsa_ven_amd_loader_loaded_code_object_info_t as Attribute;
        let value = call.value(value)?;
        let info = call.loader()?.loaded_code_object(loaded_code_object.handle)?;
        let stored_in = |storage: Storage| argument(info.storage_kind == storage.0);
        match attribute {
            Attribute::EXECUTABLE => value.put(info.executable),
            Attribute::KIND => value.put(info.kind),
            Attribute::AGENT => value.put(info.agent),
            Attribute::CODE_OBJECT_STORAGE_TYPE => value.put(info.storage_kind),
            Attribute::CODE_OBJECT_STORAGE_MEMORY_BASE => {
                stored_in(Storage::MEMORY)?;
                value.put(info.memory_base);
            }
            Attribute::CODE_OBJECT_STORAGE_MEMORY_SIZE => {
                stored_in(Storage::MEMORY)?;
                value.put(info.memory_bytes);
            }
            Attribute::CODE_OBJECT_STORAGE_FILE => {
                stored_in(Storage::FILE)?;
                value.put(info.descriptor);
            }
            Attribute::LOAD_DELTA => value.put(info.load_delta),
            Attribute::LOAD_BASE => value.put(info.load_base),
            Attribute::LOAD_SIZE => value.put(info.load_bytes),
            Attribute::URI_LENGTH => {
                value.put(u32::try_from(info.uri.len()).map_err(|_| hsa_status_t::ERROR)?);
            }
            Attribute::URI => value.put_all(info.uri.as_bytes()),
            _ => return Err(hsa_status_t::ERROR_INVALID_ARGUMENT.into()),
        }
        Ok(())
    }

    /// A reader for a part of a file.
    fn hsa_ven_amd_loader_code_object_reader_create_from_file_with_offset_size(
        call; file: hsa_file_t, offset: usize, size: usize, code_object_reader: *mut hsa_code_object_reader_t,
    ) {
        let result = call.out(code_object_reader)?;
        ensure(file >= 0, hsa_status_t::ERROR_INVALID_FILE)?;
        ensure(size != 0, hsa_status_t::ERROR_INVALID_CODE_OBJECT)?;
        let handle = call.loader()?.reader_from_file(file, offset as u64, size as u64)?;
        result.set(hsa_code_object_reader_t { handle });
        Ok(())
    }

    /// Shows all executables to a callback, as they were when the call began.
    fn hsa_ven_amd_loader_iterate_executables(call; callback: ExecutableCallback, data: *mut c_void) {
        let callback = required(callback)?;
        let executables = call.loader()?.executables()?;
        iterate(executables, |handle| {
            // SAFETY: the program's function, called as its contract says.
            unsafe { callback(hsa_executable_t { handle }, data) }
        })
    }

    /// How many bytes a code object takes once loaded.
    fn hsa_ven_amd_loader_code_object_reader_get_load_size(
        call; code_object_reader: hsa_code_object_reader_t, load_size: *mut usize,
    ) {
        let result = call.out(load_size)?;
        result.set(narrow(call.loader()?.load_size(code_object_reader.handle)?));
        Ok(())
    }

    /// Loads for an agent at an address that the program mapped.
    fn hsa_ven_amd_loader_executable_load_agent_code_object_at_address(
        call; executable: hsa_executable_t, agent: hsa_agent_t, code_object_reader: hsa_code_object_reader_t,
        options: *const c_char, load_address: *mut c_void, load_size: usize,
        loaded_code_object: *mut hsa_loaded_code_object_t,
    ) {
        argument(!load_address.is_null())?;
        let request = LoadAtRequest {
            executable: executable.handle,
            agent: agent.handle,
            reader: code_object_reader.handle,
            options: call.text(options)?.into(),
            address: address(load_address),
            bytes: load_size as u64,
        };
        let handle = call.loader()?.load_at(&request)?;
        if let Some(result) = call.wanted(loaded_code_object) {
            result.set(hsa_loaded_code_object_t { handle });
        }
        Ok(())
    }
}

fn segment(segment: &SegmentDescriptor) -> hsa_ven_amd_loader_segment_descriptor_t {
    hsa_ven_amd_loader_segment_descriptor_t {
        agent: hsa_agent_t {
            handle: segment.agent,
        },
        executable: hsa_executable_t {
            handle: segment.executable,
        },
        code_object_storage_type: Storage(segment.storage_kind),
        code_object_storage_base: pointer(segment.storage_base),
        code_object_storage_size: narrow(segment.storage_bytes),
        code_object_storage_offset: narrow(segment.storage_offset),
        segment_base: pointer(segment.segment_base),
        segment_size: narrow(segment.segment_bytes),
    }
}
