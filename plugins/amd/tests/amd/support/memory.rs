//! The scripted runtime's memory.

use super::{answer, CPU, GPU, POOL};
use hansa_plugin_api::{
    DiscardRequest, DmaBuf, FabricName, FileTransfer, FileTransferred, FreeCallback, InteropMapping,
    InteropRequest, IpcName, LinkInfo, LockRequest, MemoryServices, PointerInfo, PoolAccess, PoolInfo,
    RSlice, RVec, Result, SharingServices, SvmPair, VmemAccess, VmemProperties,
};

/// Pools, allocations, locked memory.
pub(crate) struct Memory;

impl MemoryServices for Memory {
    fn pools(&self, agent: u64) -> Result<RVec<u64>> {
        answer(
            format!("pools({agent:#x})"),
            vec![POOL, POOL + 1, POOL + 2].into(),
        )
    }

    fn pool_info(&self, pool: u64) -> Result<PoolInfo> {
        let info = PoolInfo {
            owner: CPU,
            bytes: 1 << 34,
            max_allocation: 1 << 33,
            granule: 4096,
            alignment: 8192,
            recommended_granule: 2 << 20,
            segment: 0,
            global_flags: 2,
            location: 1,
            allocation_allowed: true,
            accessible_by_all: false,
        };
        answer(format!("pool_info({pool:#x})"), info)
    }

    fn pool_access(&self, agent: u64, pool: u64) -> Result<PoolAccess> {
        let hop = LinkInfo {
            min_latency: 1,
            max_latency: 2,
            min_bandwidth: 3,
            max_bandwidth: 4,
            kind: 2,
            numa_distance: 20,
            atomics_32bit: true,
            atomics_64bit: false,
            coherent: true,
        };
        let access = PoolAccess {
            access: 2,
            links: vec![hop, LinkInfo::default()].into(),
        };
        answer(format!("pool_access({agent:#x}, {pool:#x})"), access)
    }

    fn pool_allocate(&self, pool: u64, bytes: u64, flags: u32) -> Result<u64> {
        answer(format!("pool_allocate({pool:#x}, {bytes}, {flags})"), 0x4000)
    }

    fn free(&self, address: u64) -> Result<()> {
        answer(format!("free({address:#x})"), ())
    }

    fn grant_access(&self, agents: RSlice<'_, u64>, address: u64) -> Result<()> {
        answer(format!("grant_access({agents:x?}, {address:#x})"), ())
    }

    fn can_migrate(&self, from: u64, to: u64) -> Result<bool> {
        answer(format!("can_migrate({from:#x}, {to:#x})"), true)
    }

    fn migrate(&self, address: u64, pool: u64) -> Result<()> {
        answer(format!("migrate({address:#x}, {pool:#x})"), ())
    }

    fn lock(&self, request: &LockRequest<'_>) -> Result<u64> {
        let LockRequest {
            bytes, agents, pool, ..
        } = request;
        answer(format!("lock({bytes}, {agents:x?}, {pool:#x})"), 0x4100)
    }

    fn unlock(&self, address: u64) -> Result<()> {
        answer(format!("unlock({address:#x})"), ())
    }

    fn fill(&self, address: u64, value: u32, count: u64) -> Result<()> {
        answer(format!("fill({address:#x}, {value:#x}, {count})"), ())
    }

    fn pointer_info(&self, address: u64, with_agents: bool) -> Result<PointerInfo> {
        let info = PointerInfo {
            kind: 1,
            global_flags: 4,
            agent_base: 0x4000,
            host_base: 0x4100,
            bytes: 65_536,
            user_data: 0x42,
            owner: GPU,
            alloc_flags: 0x11,
            registered: true,
            agents: if with_agents && address != 0x666 {
                vec![CPU, GPU].into()
            } else {
                RVec::new()
            },
        };
        answer(format!("pointer_info({address:#x}, {with_agents})"), info)
    }

    fn set_user_data(&self, address: u64, data: u64) -> Result<()> {
        answer(format!("set_user_data({address:#x}, {data:#x})"), ())
    }

    fn on_free(&self, address: u64, callback: FreeCallback) -> Result<()> {
        // SAFETY: the test's callback, which does not follow the address.
        unsafe {
            (callback.function)(
                std::ptr::without_provenance_mut(usize::try_from(address).expect("64 bits")),
                callback.argument,
            );
        };
        answer(format!("on_free({address:#x})"), ())
    }

    fn cancel_on_free(&self, address: u64, _callback: FreeCallback) -> Result<()> {
        answer(format!("cancel_on_free({address:#x})"), ())
    }
}

/// Memory with more than one user.
pub(crate) struct Sharing;

impl SharingServices for Sharing {
    fn ipc_export(&self, address: u64, bytes: u64) -> Result<IpcName> {
        let name = IpcName {
            words: [1, 2, 3, 4, 5, 6, 7, 8],
        };
        answer(format!("ipc_export({address:#x}, {bytes})"), name)
    }

    fn ipc_attach(&self, name: IpcName, bytes: u64, agents: RSlice<'_, u64>) -> Result<u64> {
        answer(
            format!("ipc_attach({:?}, {bytes}, {agents:x?})", name.words),
            0x4200,
        )
    }

    fn ipc_detach(&self, address: u64) -> Result<()> {
        answer(format!("ipc_detach({address:#x})"), ())
    }

    fn dmabuf_export(&self, address: u64, bytes: u64, flags: u64) -> Result<DmaBuf> {
        let exported = DmaBuf {
            descriptor: 7,
            reserved: 0,
            offset: 0x80,
        };
        answer(format!("dmabuf_export({address:#x}, {bytes}, {flags})"), exported)
    }

    fn dmabuf_close(&self, descriptor: i32) -> Result<()> {
        answer(format!("dmabuf_close({descriptor})"), ())
    }

    fn interop_map(&self, request: &InteropRequest<'_>) -> Result<InteropMapping> {
        let InteropRequest {
            descriptor,
            size_hint,
            agents,
            ..
        } = request;
        let mapping = InteropMapping {
            address: 0x4300,
            bytes: 1024,
            metadata: 0x4400,
            metadata_bytes: 48,
        };
        answer(
            format!("interop_map({descriptor}, {size_hint}, {agents:x?})"),
            mapping,
        )
    }

    fn interop_unmap(&self, address: u64) -> Result<()> {
        answer(format!("interop_unmap({address:#x})"), ())
    }

    fn file_transfer(&self, request: &FileTransfer) -> Result<FileTransferred> {
        let FileTransfer {
            descriptor,
            write,
            bytes,
            offset,
            ..
        } = request;
        let outcome = FileTransferred {
            bytes: bytes / 2,
            status: if *offset == 5 { 5 } else { 0 },
            reserved: 0,
        };
        answer(
            format!("file_transfer({descriptor}, {write}, {bytes}, {offset})"),
            outcome,
        )
    }

    fn vmem_reserve(&self, bytes: u64, address: u64, alignment: u64, flags: u64) -> Result<u64> {
        answer(
            format!("vmem_reserve({bytes}, {address:#x}, {alignment}, {flags})"),
            0x4500,
        )
    }

    fn vmem_release(&self, address: u64, bytes: u64) -> Result<()> {
        answer(format!("vmem_release({address:#x}, {bytes})"), ())
    }

    fn vmem_create(&self, pool: u64, bytes: u64, kind: u32, flags: u64) -> Result<u64> {
        answer(format!("vmem_create({pool:#x}, {bytes}, {kind}, {flags})"), 0x41)
    }

    fn vmem_destroy(&self, memory: u64) -> Result<()> {
        answer(format!("vmem_destroy({memory:#x})"), ())
    }

    fn vmem_map(&self, address: u64, bytes: u64, memory: u64) -> Result<()> {
        answer(format!("vmem_map({address:#x}, {bytes}, {memory:#x})"), ())
    }

    fn vmem_unmap(&self, address: u64, bytes: u64) -> Result<()> {
        answer(format!("vmem_unmap({address:#x}, {bytes})"), ())
    }

    fn vmem_set_access(&self, address: u64, bytes: u64, access: RSlice<'_, VmemAccess>) -> Result<()> {
        let access: Vec<_> = access.iter().map(|one| (one.agent, one.permission)).collect();
        answer(format!("vmem_set_access({address:#x}, {bytes}, {access:x?})"), ())
    }

    fn vmem_access(&self, address: u64, agent: u64) -> Result<u32> {
        answer(format!("vmem_access({address:#x}, {agent:#x})"), 3)
    }

    fn vmem_export(&self, memory: u64, flags: u64) -> Result<i32> {
        answer(format!("vmem_export({memory:#x}, {flags})"), 8)
    }

    fn vmem_import(&self, descriptor: i32) -> Result<u64> {
        answer(format!("vmem_import({descriptor})"), 0x42)
    }

    fn vmem_retain(&self, address: u64) -> Result<u64> {
        answer(format!("vmem_retain({address:#x})"), 0x41)
    }

    fn vmem_properties(&self, memory: u64) -> Result<VmemProperties> {
        let properties = VmemProperties {
            pool: POOL,
            kind: 1,
            reserved: 0,
        };
        answer(format!("vmem_properties({memory:#x})"), properties)
    }

    fn fabric_export(&self, memory: u64) -> Result<FabricName> {
        answer(
            format!("fabric_export({memory:#x})"),
            FabricName { bytes: [0xab; 16] },
        )
    }

    fn fabric_import(&self, name: FabricName) -> Result<u64> {
        answer(format!("fabric_import({:x?})", name.bytes[15]), 0x43)
    }

    fn svm_set(&self, address: u64, bytes: u64, attributes: RSlice<'_, SvmPair>) -> Result<()> {
        let pairs: Vec<_> = attributes
            .iter()
            .map(|pair| (pair.attribute, pair.value))
            .collect();
        answer(format!("svm_set({address:#x}, {bytes}, {pairs:x?})"), ())
    }

    fn svm_get(&self, address: u64, bytes: u64, attributes: RSlice<'_, SvmPair>) -> Result<RVec<SvmPair>> {
        let answers: Vec<_> = attributes
            .iter()
            .map(|pair| SvmPair {
                attribute: pair.attribute,
                value: pair.value + 1,
            })
            .collect();
        answer(format!("svm_get({address:#x}, {bytes})"), answers.into())
    }

    fn svm_prefetch(
        &self,
        address: u64,
        bytes: u64,
        agent: u64,
        dependencies: RSlice<'_, u64>,
        completion: u64,
    ) -> Result<()> {
        let call = format!(
            "svm_prefetch({address:#x}, {bytes}, {agent:#x}, after {dependencies:x?}, then {completion:#x})"
        );
        answer(call, ())
    }

    fn svm_discard(&self, request: &DiscardRequest<'_>) -> Result<()> {
        let DiscardRequest {
            addresses,
            bytes,
            agents,
            dependencies,
            completion,
        } = request;
        let call =
            format!("svm_discard({addresses:x?}, {bytes:?}, {agents:x?}, after {dependencies:x?}, then {completion:#x})");
        answer(call, ())
    }
}
