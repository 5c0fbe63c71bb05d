//! Memory across processes, drivers and addresses.

use super::memory::pool;
use super::{agents_of, completion, live_signals, Group};
use crate::error::{Error, Result};
use crate::memory::file::Transfer;
use hansa_plugin_api as api;
use std::os::fd::IntoRawFd;

#[derive(Debug)]
pub(super) struct Sharing(pub(super) Group);

impl api::SharingServices for Sharing {
    fn ipc_export(&self, address: u64, bytes: u64) -> api::Result<api::IpcName> {
        let words = self.0.runtime()?.export_memory(address, bytes)?;
        Ok(api::IpcName { words })
    }

    fn ipc_attach(&self, name: api::IpcName, bytes: u64, agents: api::RSlice<'_, u64>) -> api::Result<u64> {
        let runtime = self.0.runtime()?;
        let agents = agents_of(&runtime, &agents)?;
        Ok(runtime.attach_memory(name.words, bytes, &agents)?)
    }

    fn ipc_detach(&self, address: u64) -> api::Result<()> {
        Ok(self.0.runtime()?.detach_memory(address)?)
    }

    fn dmabuf_export(&self, address: u64, bytes: u64, _flags: u64) -> api::Result<api::DmaBuf> {
        // Whether a peer gets at it over PCI Express is the driver's to arrange; it is told nothing of the wish.
        let (descriptor, offset) = self.0.runtime()?.export_dmabuf(address, bytes)?;
        Ok(api::DmaBuf {
            descriptor: descriptor.into_raw_fd(),
            reserved: 0,
            offset,
        })
    }

    fn dmabuf_close(&self, descriptor: i32) -> api::Result<()> {
        self.0.runtime()?;
        // SAFETY: the program gives its descriptor away.
        if unsafe { libc::close(descriptor) } == 0 {
            Ok(())
        } else {
            Err(Error::ResourceFree("the system does not close the descriptor").into())
        }
    }

    fn interop_map(&self, request: &api::InteropRequest<'_>) -> api::Result<api::InteropMapping> {
        let runtime = self.0.runtime()?;
        let agents = agents_of(&runtime, &request.agents)?;
        let (address, bytes) = runtime.map_buffer(request.descriptor, request.size_hint, &agents)?;
        Ok(api::InteropMapping {
            address,
            bytes,
            metadata: 0,
            metadata_bytes: 0,
        })
    }

    fn interop_unmap(&self, address: u64) -> api::Result<()> {
        self.0.runtime()?.unmap_buffer(address);
        Ok(())
    }

    fn file_transfer(&self, request: &api::FileTransfer) -> api::Result<api::FileTransferred> {
        let (bytes, status) = self.0.runtime()?.transfer(&Transfer {
            descriptor: request.descriptor,
            write: request.write,
            address: request.address,
            bytes: request.bytes,
            offset: request.offset,
        })?;
        Ok(api::FileTransferred {
            bytes,
            status,
            reserved: 0,
        })
    }

    fn vmem_reserve(&self, bytes: u64, address: u64, alignment: u64, flags: u64) -> api::Result<u64> {
        Ok(self.0.runtime()?.reserve(bytes, address, alignment, flags)?)
    }

    fn vmem_release(&self, address: u64, bytes: u64) -> api::Result<()> {
        Ok(self.0.runtime()?.unreserve(address, bytes)?)
    }

    fn vmem_create(&self, handle: u64, bytes: u64, kind: u32, flags: u64) -> api::Result<u64> {
        let runtime = self.0.runtime()?;
        let region = pool(&runtime, handle)?;
        let flags = u32::try_from(flags).map_err(|_| Error::InvalidArgument("unknown flags"))?;
        Ok(runtime.create_physical(region, bytes, kind, flags)?)
    }

    fn vmem_destroy(&self, memory: u64) -> api::Result<()> {
        Ok(self.0.runtime()?.let_go_of_physical(memory)?)
    }

    fn vmem_map(&self, address: u64, bytes: u64, memory: u64) -> api::Result<()> {
        Ok(self.0.runtime()?.map_physical(address, bytes, memory)?)
    }

    fn vmem_unmap(&self, address: u64, bytes: u64) -> api::Result<()> {
        Ok(self.0.runtime()?.unmap_physical(address, bytes)?)
    }

    fn vmem_set_access(
        &self,
        address: u64,
        bytes: u64,
        access: api::RSlice<'_, api::VmemAccess>,
    ) -> api::Result<()> {
        let runtime = self.0.runtime()?;
        let changes: Vec<(usize, u32)> = access
            .iter()
            .map(|one| Ok((runtime.agent_index(one.agent)?, one.permission)))
            .collect::<Result<_>>()?;
        Ok(runtime.set_access(address, bytes, &changes)?)
    }

    fn vmem_access(&self, address: u64, agent: u64) -> api::Result<u32> {
        let runtime = self.0.runtime()?;
        let agent = runtime.agent_index(agent)?;
        Ok(runtime.access_at(address, agent)?)
    }

    fn vmem_export(&self, memory: u64, _flags: u64) -> api::Result<i32> {
        // As for `dmabuf_export`.
        Ok(self.0.runtime()?.export_physical(memory)?.into_raw_fd())
    }

    fn vmem_import(&self, descriptor: i32) -> api::Result<u64> {
        Ok(self.0.runtime()?.import_physical(descriptor)?)
    }

    fn vmem_retain(&self, address: u64) -> api::Result<u64> {
        Ok(self.0.runtime()?.retain_physical(address)?)
    }

    fn vmem_properties(&self, memory: u64) -> api::Result<api::VmemProperties> {
        let runtime = self.0.runtime()?;
        let properties = runtime.physical_properties(memory)?;
        Ok(api::VmemProperties {
            pool: runtime.region_handle(properties.region),
            kind: properties.kind,
            reserved: 0,
        })
    }

    fn fabric_export(&self, memory: u64) -> api::Result<api::FabricName> {
        let bytes = self.0.runtime()?.export_to_fabric(memory)?;
        Ok(api::FabricName { bytes })
    }

    fn fabric_import(&self, name: api::FabricName) -> api::Result<u64> {
        Ok(self.0.runtime()?.import_from_fabric(name.bytes)?)
    }

    fn svm_set(
        &self,
        address: u64,
        bytes: u64,
        attributes: api::RSlice<'_, api::SvmPair>,
    ) -> api::Result<()> {
        let pairs: Vec<_> = attributes.iter().map(|p| (p.attribute, p.value)).collect();
        Ok(self.0.runtime()?.svm_set(address, bytes, &pairs)?)
    }

    fn svm_get(
        &self,
        address: u64,
        bytes: u64,
        attributes: api::RSlice<'_, api::SvmPair>,
    ) -> api::Result<api::RVec<api::SvmPair>> {
        let pairs: Vec<_> = attributes.iter().map(|p| (p.attribute, p.value)).collect();
        let answers = self.0.runtime()?.svm_get(address, bytes, &pairs)?;
        Ok(answers
            .into_iter()
            .map(|(attribute, value)| api::SvmPair { attribute, value })
            .collect())
    }

    fn svm_prefetch(
        &self,
        address: u64,
        bytes: u64,
        agent: u64,
        dependencies: api::RSlice<'_, u64>,
        completion: u64,
    ) -> api::Result<()> {
        let runtime = self.0.runtime()?;
        let agent = runtime.agent_index(agent)?;
        let dependencies = live_signals(&dependencies)?;
        let completion = self::completion(completion)?;
        Ok(runtime.svm_prefetch(address, bytes, agent, dependencies, completion)?)
    }

    fn svm_discard(&self, request: &api::DiscardRequest<'_>) -> api::Result<()> {
        let runtime = self.0.runtime()?;
        if request.addresses.len() != request.bytes.len() {
            return Err(Error::InvalidArgument("the lists are of unequal length").into());
        }
        let agents = agents_of(&runtime, &request.agents)?;
        let ranges = request
            .addresses
            .iter()
            .copied()
            .zip(request.bytes.iter().copied());
        let dependencies = live_signals(&request.dependencies)?;
        let completion = completion(request.completion)?;
        Ok(runtime.svm_discard(ranges.collect(), agents, dependencies, completion)?)
    }
}
