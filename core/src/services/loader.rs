//! Code objects and executables.

use super::{gpu, Group};
use crate::code::{self, agent_of, Loaded};
use crate::error::{Error, Result};
use crate::loader::{CodeObjectReader, ReaderError};
use crate::runtime::Runtime;
use hansa_plugin_api as api;
use hansa_plugin_api::hsa::{
    hsa_ven_amd_loader_code_object_storage_type_t as Storage,
    hsa_ven_amd_loader_loaded_code_object_kind_t as LoadedKind,
};
use std::os::fd::BorrowedFd;
use std::sync::Arc;

#[derive(Debug)]
pub(super) struct Loader(pub(super) Group);

const NOT_CODE: Error = Error::InvalidArgument("an address outside of all loaded code");

/// Everything that is loaded, in the order of loading.
fn all_loaded(runtime: &Runtime) -> Result<Vec<Arc<Loaded>>> {
    let mut all = Vec::new();
    for executable in runtime.executables() {
        // One that is destroyed meanwhile has nothing loaded.
        let Ok(handles) = runtime.loaded_code_objects(executable) else {
            continue;
        };
        for handle in handles {
            all.push(runtime.loaded_code_object(handle)?);
        }
    }
    Ok(all)
}

/// A code object is one segment. Its bytes are in memory, wherever they were read from.
fn segment(runtime: &Runtime, loaded: &Loaded) -> api::SegmentDescriptor {
    let reader = loaded.object.reader();
    api::SegmentDescriptor {
        agent: runtime.agent_handle(agent_of(loaded.object.agent())),
        executable: loaded.executable,
        storage_kind: Storage::MEMORY.0,
        reserved: 0,
        storage_base: reader.address(),
        storage_bytes: reader.size(),
        storage_offset: 0,
        segment_base: loaded.object.base(),
        segment_bytes: loaded.object.size(),
    }
}

/// What programs can ask of a loaded code object.
fn describe(runtime: &Runtime, loaded: &Loaded) -> api::LoadedCodeObject {
    let object = &loaded.object;
    let reader = object.reader();
    let file = reader.file();
    api::LoadedCodeObject {
        executable: loaded.executable,
        agent: runtime.agent_handle(agent_of(object.agent())),
        kind: LoadedKind::AGENT.0,
        storage_kind: if file.is_some() {
            Storage::FILE
        } else {
            Storage::MEMORY
        }
        .0,
        memory_base: reader.address(),
        memory_bytes: reader.size(),
        descriptor: file.unwrap_or(-1),
        reserved: 0,
        load_delta: i64::from_ne_bytes(object.delta().to_ne_bytes()),
        load_base: object.base(),
        load_bytes: object.size(),
        uri: reader.uri().into(),
    }
}

/// A reader of a part of a file, cut at the file's end.
fn part_of_file(descriptor: i32, offset: u64, bytes: u64) -> Result<CodeObjectReader> {
    if descriptor < 0 {
        return Err(Error::InvalidFile);
    }
    // SAFETY: not -1; whether it is open is what the first system call with it finds out.
    let file = unsafe { BorrowedFd::borrow_raw(descriptor) };
    match CodeObjectReader::from_file_part(file, offset, bytes) {
        Err(ReaderError::Range { file_size, .. }) if bytes != 0 && offset < file_size => Ok(
            CodeObjectReader::from_file_part(file, offset, file_size - offset)?,
        ),
        other => Ok(other?),
    }
}

impl api::LoaderServices for Loader {
    fn host_address(&self, address: u64) -> api::Result<u64> {
        let at = self.0.runtime()?.executable_at(address);
        let host = at.and_then(|(_, loaded)| loaded.host_address(address));
        Ok(host.ok_or(NOT_CODE)?)
    }

    fn segments(&self) -> api::Result<api::RVec<api::SegmentDescriptor>> {
        let runtime = self.0.runtime()?;
        let all = all_loaded(&runtime)?;
        Ok(all.iter().map(|loaded| segment(&runtime, loaded)).collect())
    }

    fn executable_at(&self, address: u64) -> api::Result<u64> {
        let (executable, _) = self.0.runtime()?.executable_at(address).ok_or(NOT_CODE)?;
        Ok(executable)
    }

    fn executables(&self) -> api::Result<api::RVec<u64>> {
        Ok(self.0.runtime()?.executables().into())
    }

    fn loaded_code_objects(&self, executable: u64) -> api::Result<api::RVec<u64>> {
        Ok(self.0.runtime()?.loaded_code_objects(executable)?.into())
    }

    fn loaded_code_object(&self, code_object: u64) -> api::Result<api::LoadedCodeObject> {
        let runtime = self.0.runtime()?;
        let loaded = runtime.loaded_code_object(code_object)?;
        Ok(describe(&runtime, &loaded))
    }

    fn reader_from_file(&self, descriptor: i32, offset: u64, bytes: u64) -> api::Result<u64> {
        let runtime = self.0.runtime()?;
        let reader = part_of_file(descriptor, offset, bytes)?;
        Ok(runtime.add_reader(reader)?)
    }

    fn load_size(&self, reader: u64) -> api::Result<u64> {
        let reader = self.0.runtime()?.reader(reader)?;
        let object = reader.parse().map_err(Error::from)?;
        Ok(object.layout().size)
    }

    fn load_at(&self, request: &api::LoadAtRequest<'_>) -> api::Result<u64> {
        let runtime = self.0.runtime()?;
        runtime.executable(request.executable)?;
        let agent = gpu(&runtime, request.agent)?;
        let reader = runtime.reader(request.reader)?;
        Ok(runtime.load_at(request.executable, agent, &reader, request.address, request.bytes)?)
    }

    fn isa_name(&self, isa: u64) -> api::Result<api::RString> {
        Ok(code::isa(isa)?.to_string().into())
    }

    fn isa_wavefront_size(&self, isa: u64) -> api::Result<u32> {
        Ok(code::isa(isa)?.wavefront_size())
    }

    fn code_object(&self, bytes: api::RSlice<'_, u8>) -> api::Result<u64> {
        Ok(self.0.runtime()?.deserialize(bytes.as_slice())?)
    }
}
