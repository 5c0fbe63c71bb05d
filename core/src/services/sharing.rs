//! Memory across processes, drivers and addresses.

use super::Group;
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
        let agents: Vec<usize> = agents
            .iter()
            .map(|&agent| runtime.agent_index(agent))
            .collect::<Result<_>>()?;
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
        let agents: Vec<usize> = request
            .agents
            .iter()
            .map(|&agent| runtime.agent_index(agent))
            .collect::<Result<_>>()?;
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
}
