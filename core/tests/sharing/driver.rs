//! A driver in the test: two devices whose memory is memory files, and whose packet processor is a function.

use super::processor::Processor;
use hansa_core::ipc::MemoryFile;
use hansa_plugin_api as api;
use hansa_plugin_api::{
    AgentCaps, AllocRequest, Allocation, BankFlags, BankKind, Driver, DriverGroups, Error, ErrorCode,
    HostMemoryRequest, HostRef, MapRequest, MemoryBank, MemoryHandle, NodeDescription, NodeKind, NodeRef,
    RVec, Result, SystemDescription,
};
use rustix::mm::{mmap_anonymous, munmap, MapFlags, ProtFlags};
use std::collections::HashMap;
use std::os::fd::{BorrowedFd, IntoRawFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::Mutex;

/// A registration that the runtime made and has not undone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Registered {
    pub(crate) address: u64,
    pub(crate) bytes: u64,
    pub(crate) nodes: Vec<u32>,
    pub(crate) read_only: bool,
}

static REGISTERED: Mutex<Option<HashMap<u64, Registered>>> = Mutex::new(None);

/// The registrations of a range.
pub(crate) fn registered(address: u64) -> Vec<Registered> {
    let table = REGISTERED.lock().unwrap();
    let mut found: Vec<_> = table
        .iter()
        .flat_map(HashMap::values)
        .filter(|one| one.address == address)
        .cloned()
        .collect();
    found.sort_by_key(|one| one.read_only);
    found
}

/// Memory of a driver with virtual memory that lies at an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Placed {
    pub(crate) address: u64,
    pub(crate) nodes: Vec<u32>,
    pub(crate) access: u32,
}

static PLACED: Mutex<Vec<Placed>> = Mutex::new(Vec::new());

/// What lies at an address.
pub(crate) fn placed(address: u64) -> Vec<Placed> {
    let all = PLACED.lock().unwrap();
    all.iter().filter(|one| one.address == address).cloned().collect()
}

/// The attributes that the driver was last told of, by range.
pub(crate) static TOLD: Mutex<Vec<(u64, u64, Vec<api::SvmAttribute>)>> = Mutex::new(Vec::new());

/// Whether the driver does without what is optional: virtual memory, shared virtual memory, sharing.
pub(crate) static PLAIN: AtomicBool = AtomicBool::new(false);

/// The bit in which the devices' own addresses of the program's memory differ from the host's.
const OWN: u64 = 1 << 47;

/// Live allocations of the driver.
pub(crate) static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

/// Memory of a device, at 0 when it has no address.
struct Memory {
    file: MemoryFile,
    address: usize,
}

/// The driver.
pub(crate) struct FakeDriver {
    host: HostRef<'static>,
    memory: Mutex<HashMap<u64, Memory>>,
    next: AtomicU64,
}

impl FakeDriver {
    pub(crate) fn new(host: HostRef<'static>) -> Self {
        Self {
            host,
            memory: Mutex::new(HashMap::new()),
            next: AtomicU64::new(1),
        }
    }

    fn keep(&self, file: MemoryFile) -> Result<Allocation> {
        let bytes = file.bytes();
        let refused = |_| Error::new(ErrorCode::OUT_OF_RESOURCES, "No room");
        // SAFETY: a new range that nothing uses yet.
        let place = unsafe {
            mmap_anonymous(
                std::ptr::null_mut(),
                bytes as usize,
                ProtFlags::empty(),
                MapFlags::PRIVATE,
            )
        };
        let address = place
            .map_err(|e| Error::os(e.raw_os_error(), "No room", "mmap"))?
            .expose_provenance();
        // SAFETY: the range that was just made.
        unsafe { file.map_over(address, file.bytes(), ProtFlags::READ | ProtFlags::WRITE) }
            .map_err(refused)?;
        Ok(self.enter(file, address))
    }

    /// Memory without an address.
    fn keep_away(&self, file: MemoryFile) -> Allocation {
        self.enter(file, 0)
    }

    fn enter(&self, file: MemoryFile, address: usize) -> Allocation {
        let (handle, bytes) = (self.next.fetch_add(1, Ordering::Relaxed), file.bytes());
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        let mut memory = self.memory.lock().unwrap();
        memory.insert(handle, Memory { file, address });
        Allocation {
            handle: MemoryHandle(handle),
            device_address: address as u64,
            host_address: address as u64,
            bytes,
        }
    }
}

fn link(from: NodeRef, to: NodeRef) -> api::LinkDescription {
    api::LinkDescription {
        from,
        to,
        kind: api::LinkKind::PCIE,
        flags: api::LinkFlags::COHERENT,
        weight: 20,
        hops: 1,
        min_latency_ns: 0,
        max_latency_ns: 0,
        min_bandwidth_mbs: 0,
        max_bandwidth_mbs: 0,
        engine_mask: 0,
        reserved: 0,
    }
}

fn unknown(handle: MemoryHandle) -> Error {
    Error::new(ErrorCode::INVALID_HANDLE, format!("{} is no memory", handle.0))
}

impl Driver for FakeDriver {
    fn open(&self) -> Result<()> {
        Ok(())
    }

    fn describe(&self) -> Result<SystemDescription> {
        let plain = PLAIN.load(Ordering::Relaxed);
        let optional = DriverGroups::SHARING | DriverGroups::VIRTUAL_MEMORY | DriverGroups::SVM;
        let node = |number| {
            let mut node = NodeDescription::new(number, NodeKind::GPU, "gfx900");
            node.caps = if plain {
                AgentCaps::empty()
            } else {
                AgentCaps::XNACK
            };
            node.caps |= AgentCaps::KERNEL_DISPATCH
                | AgentCaps::SHARED_ADDRESSES
                | AgentCaps::HOST_VISIBLE_MEMORY
                | AgentCaps::SOFTWARE;
            node.max_queues = 16;
            node.min_queue_packets = 16;
            node.max_queue_packets = 1024;
            for flags in [BankFlags::empty(), BankFlags::UNCLEARED] {
                node.banks.push(MemoryBank {
                    kind: BankKind::LOCAL,
                    flags: flags | BankFlags::HOST_VISIBLE,
                    bytes: 1 << 30,
                    granule: 4096,
                    recommended_granule: 4096,
                    width_bits: 0,
                    max_clock_mhz: 0,
                });
            }
            node
        };
        Ok(SystemDescription {
            groups: DriverGroups::MEMORY
                | DriverGroups::QUEUES
                | if plain { DriverGroups::empty() } else { optional },
            nodes: RVec::from(vec![node(0), node(1)]),
            links: RVec::from(vec![
                link(NodeRef::own(0), NodeRef::host(0)),
                link(NodeRef::own(1), NodeRef::host(0)),
                link(NodeRef::own(0), NodeRef::own(1)),
            ]),
            ..SystemDescription::default()
        })
    }

    fn close(&self) -> Result<()> {
        Ok(())
    }

    fn allocate(&self, request: &AllocRequest) -> Result<Allocation> {
        let file = MemoryFile::new("fake-memory", request.bytes)
            .map_err(|e| Error::new(ErrorCode::OUT_OF_RESOURCES, e.to_string()))?;
        if request.flags.contains(api::AllocFlags::MEMORY_ONLY) {
            return Ok(self.keep_away(file));
        }
        self.keep(file)
    }

    fn free(&self, handle: MemoryHandle) -> Result<()> {
        let memory = self.memory.lock().unwrap().remove(&handle.0);
        let memory = memory.ok_or_else(|| unknown(handle))?;
        ALLOCATIONS.fetch_sub(1, Ordering::Relaxed);
        if memory.address != 0 {
            let place = std::ptr::with_exposed_provenance_mut(memory.address);
            // SAFETY: the mapping was this allocation's.
            unsafe { munmap(place, memory.file.bytes() as usize) }.unwrap();
        }
        Ok(())
    }

    fn create_queue(&self, request: &api::QueueRequest) -> Result<api::QueueInfo> {
        let queue = self.next.fetch_add(1, Ordering::Relaxed);
        let processor = Processor::start(queue, self.host, request);
        Ok(api::QueueInfo {
            queue,
            doorbell: processor.doorbell(),
            name: "fake".into(),
        })
    }

    fn destroy_queue(&self, queue: u64) -> Result<()> {
        if Processor::end(queue) {
            Ok(())
        } else {
            Err(Error::new(ErrorCode::DEVICE_LOST, "the queue does not end"))
        }
    }

    fn update_queue(&self, _queue: u64, _update: &api::QueueUpdate<'_>) -> Result<()> {
        Ok(())
    }

    fn map(&self, request: &MapRequest<'_>) -> Result<()> {
        let mut table = REGISTERED.lock().unwrap();
        if let Some(known) = table.as_mut().and_then(|table| table.get_mut(&request.handle.0)) {
            known.nodes.extend(request.nodes.iter());
        }
        Ok(())
    }

    fn unmap(&self, _request: &MapRequest<'_>) -> Result<()> {
        Ok(())
    }

    fn reserve(&self, address: u64, _bytes: u64, _alignment: u64) -> Result<u64> {
        Ok(address)
    }

    fn unreserve(&self, _address: u64, _bytes: u64) -> Result<()> {
        Ok(())
    }

    fn map_at(
        &self,
        handle: MemoryHandle,
        _offset: u64,
        address: u64,
        bytes: u64,
        nodes: api::RSlice<'_, u32>,
        access: u32,
    ) -> Result<()> {
        let table = self.memory.lock().unwrap();
        let memory = table.get(&handle.0).ok_or_else(|| unknown(handle))?;
        assert_eq!(bytes, memory.file.bytes());
        if nodes.is_empty() {
            let mut protection = ProtFlags::READ;
            protection.set(ProtFlags::WRITE, access & 2 != 0);
            // SAFETY: the runtime reserved the range.
            unsafe { memory.file.map_over(address as usize, bytes, protection) }.unwrap();
        }
        PLACED.lock().unwrap().push(Placed {
            address,
            nodes: nodes.to_vec(),
            access,
        });
        Ok(())
    }

    fn unmap_at(&self, _handle: MemoryHandle, address: u64, _bytes: u64) -> Result<()> {
        PLACED.lock().unwrap().retain(|one| one.address != address);
        Ok(())
    }

    fn svm_set(
        &self,
        address: u64,
        bytes: u64,
        attributes: api::RSlice<'_, api::SvmAttribute>,
    ) -> Result<()> {
        TOLD.lock().unwrap().push((address, bytes, attributes.to_vec()));
        Ok(())
    }

    fn export_memory(&self, handle: MemoryHandle, kind: api::ExportKind) -> Result<api::SharedHandle> {
        let table = self.memory.lock().unwrap();
        let memory = table.get(&handle.0).ok_or_else(|| unknown(handle))?;
        if kind != api::ExportKind::DMA_BUF || PLAIN.load(Ordering::Relaxed) {
            return Err(Error::not_supported("A name in words"));
        }
        let descriptor = memory.file.duplicate().unwrap().into_raw_fd();
        let mut words = [0; 8];
        words[0] = descriptor.try_into().unwrap();
        Ok(api::SharedHandle {
            kind,
            reserved: 0,
            offset: 0,
            words,
        })
    }

    fn import_memory(&self, request: &api::ImportRequest<'_>) -> Result<Allocation> {
        // SAFETY: the runtime lends an open descriptor for the call.
        let lent = unsafe { BorrowedFd::borrow_raw(request.shared.words[0] as i32) };
        let file = lent.try_clone_to_owned().ok().and_then(MemoryFile::of);
        let file = file.filter(|file| request.bytes == 0 || file.bytes() == request.bytes);
        let file = file.ok_or_else(|| Error::new(ErrorCode::INVALID_ARGUMENT, "No memory"))?;
        if request.nodes.is_empty() {
            Ok(self.keep_away(file))
        } else {
            self.keep(file)
        }
    }

    fn register_host(&self, request: &HostMemoryRequest<'_>) -> Result<Allocation> {
        let handle = self.next.fetch_add(1, Ordering::Relaxed);
        let mut nodes = request.nodes.to_vec();
        nodes.sort_unstable();
        REGISTERED
            .lock()
            .unwrap()
            .get_or_insert_with(HashMap::new)
            .insert(
                handle,
                Registered {
                    address: request.address,
                    bytes: request.bytes,
                    nodes,
                    read_only: request.flags.contains(api::AllocFlags::READ_ONLY),
                },
            );
        let own = request.flags.contains(api::AllocFlags::OWN_ADDRESS);
        Ok(Allocation {
            handle: MemoryHandle(handle),
            device_address: if own {
                request.address | OWN
            } else {
                request.address
            },
            host_address: request.address,
            bytes: request.bytes,
        })
    }

    fn deregister_host(&self, handle: MemoryHandle) -> Result<()> {
        let mut table = REGISTERED.lock().unwrap();
        let known = table.as_mut().and_then(|table| table.remove(&handle.0));
        known.map(drop).ok_or_else(|| unknown(handle))
    }
}
