//! The host's side of a context: messages, and the objects that they make.
//!
//! It takes bytes and gives bytes. A message has the layout of AMD's `hsakmt_virtio_proto.h`, at literal offsets; one that is
//! shorter than the structure is filled with zeros, one that is longer than the rest of its buffer, or not whole words,
//! is refused. An object is filed under the number that the guest chose until a resource is made of it.

use super::answers::{self, Bytes};
use super::library::{status, Answer, Library};
use super::Base;
use crate::kernel::Kernel;
use crate::Errno;
use hansa_kfd::topology::Topology;
use hansa_kfd::uapi::queue::CreateQueue;
use hansa_plugin_api::sys::File;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// Bytes of the range that memory comes from.
const RANGE_BYTES: u64 = 32 << 30;
/// Bytes of the range for private memory of each GPU, which follow it.
const SCRATCH_BYTES: u64 = 4 << 30;
/// Where doorbells are, from the base on, and memory that the guest has elsewhere.
const DOORBELLS: u64 = 44 << 30;
const ELSEWHERE: u64 = 48 << 30;
/// All addresses of a context.
pub(super) const ADDRESSES: u64 = 64 << 30;
/// Bytes of a GPU's doorbells.
pub(super) const DOORBELL_BYTES: u64 = 0x2000;

/// How the guest's own memory is had.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UserMemory {
    /// Where the guest has it, as with hosts that are the guest's own process.
    #[default]
    Same,
    /// Elsewhere.
    Elsewhere,
    /// Not at all, as Linux's own kernels.
    Refused,
}

/// What is filed under a number, or a resource.
#[derive(Clone, Debug)]
pub(super) enum Object {
    Memory {
        address: u64,
        bytes: u64,
    },
    /// A range for private memory.
    Scratch {
        address: u64,
        bytes: u64,
    },
    /// A piece of it with memory.
    Piece {
        address: u64,
        bytes: u64,
    },
    Queue {
        id: u32,
        bytes: u64,
        memory: [u32; 2],
    },
    Doorbells {
        page: u64,
    },
    Event {
        id: u32,
    },
    User {
        guest: u64,
        bytes: u64,
        host: u64,
    },
}

/// Where a mappable object is.
pub(super) struct Placed {
    pub(super) file: File,
    pub(super) offset: u64,
}

/// A message, filled with zeros to what is looked at.
struct Message(Vec<u8>);

impl Message {
    fn word(&self, at: usize) -> u32 {
        u32::from_le_bytes([self.0[at], self.0[at + 1], self.0[at + 2], self.0[at + 3]])
    }

    fn long(&self, at: usize) -> u64 {
        u64::from(self.word(at)) | u64::from(self.word(at + 4)) << 32
    }
}

/// A context of the host.
#[derive(Debug)]
pub(super) struct Host {
    pub(super) library: Library,
    topology: Topology,
    base: u64,
    /// Free parts of the range, and of the range for private memory: address and bytes.
    free: BTreeMap<u64, u64>,
    /// GPUs whose range for private memory is given.
    scratch_given: BTreeSet<usize>,
    /// Where the doorbells of a node are.
    doorbells: HashMap<u32, u64>,
    filed: HashMap<u64, Object>,
    pub(super) resources: HashMap<u32, Object>,
    /// Memory that queues use, by its host number, with how many; and what was closed meanwhile.
    used: HashMap<u32, u32>,
    closed: HashMap<u32, Object>,
    next_elsewhere: u64,
    /// What keeps the base.
    _kept: Base,
}

impl Host {
    pub(super) fn open(kernel: &Arc<Kernel>) -> Result<Self, Errno> {
        let kept = Base::new();
        let base = kept.0;
        Ok(Self {
            library: Library::open(kernel)?,
            topology: answers::topology(kernel).ok_or(Errno::IO)?,
            base,
            free: BTreeMap::from([(base, RANGE_BYTES)]),
            scratch_given: BTreeSet::new(),
            doorbells: HashMap::new(),
            filed: HashMap::new(),
            resources: HashMap::new(),
            used: HashMap::new(),
            closed: HashMap::new(),
            next_elsewhere: base + ELSEWHERE,
            _kept: kept,
        })
    }

    /// Objects that no resource was made of.
    pub(super) fn filed(&self) -> usize {
        self.filed.len()
    }

    fn take(&mut self, bytes: u64, alignment: u64) -> Answer<u64> {
        let bytes = bytes.next_multiple_of(4096);
        let found = self.free.iter().find_map(|(start, room)| {
            let at = start.next_multiple_of(alignment);
            (at + bytes <= start + room).then_some((*start, *room, at))
        });
        let (start, room, at) = found.ok_or(status::NO_MEMORY)?;
        self.free.remove(&start);
        if at > start {
            self.free.insert(start, at - start);
        }
        if at + bytes < start + room {
            self.free.insert(at + bytes, start + room - at - bytes);
        }
        Ok(at)
    }

    fn give(&mut self, address: u64, bytes: u64) {
        let bytes = bytes.next_multiple_of(4096);
        self.free.insert(address, bytes);
        let mut merged: BTreeMap<u64, u64> = BTreeMap::new();
        for (start, room) in &self.free {
            match merged.iter_mut().next_back() {
                Some((last, length)) if last + *length == *start => *length += room,
                _ => {
                    merged.insert(*start, *room);
                }
            }
        }
        self.free = merged;
    }

    fn file(&mut self, number: u64, object: Object) -> Answer<()> {
        if number == 0 || number > u64::from(u32::MAX) || self.filed.contains_key(&number) {
            return Err(-22);
        }
        self.filed.insert(number, object);
        Ok(())
    }

    /// Makes a resource of what is filed under a number.
    pub(super) fn adopt(
        &mut self,
        number: u64,
        resource: u32,
        bytes: u64,
        mappable: bool,
    ) -> Result<(), Errno> {
        let object = self.filed.get(&number).ok_or(Errno::NOENT)?;
        let (size, may_map) = match object {
            Object::Memory { bytes, .. } => (*bytes, true),
            Object::Scratch { bytes, .. } | Object::Piece { bytes, .. } | Object::Queue { bytes, .. } => {
                (*bytes, false)
            }
            Object::Doorbells { .. } => (DOORBELL_BYTES, true),
            Object::Event { .. } => (72, false),
            Object::User { .. } => return Err(Errno::INVAL),
        };
        if size != bytes || (mappable && !may_map) {
            return Err(Errno::INVAL);
        }
        if let Some(object) = self.filed.remove(&number) {
            self.resources.insert(resource, object);
        }
        Ok(())
    }

    /// Makes a resource of memory of the guest.
    pub(super) fn adopt_user(&mut self, resource: u32, guest: u64, bytes: u64, how: UserMemory) {
        let host = if how == UserMemory::Elsewhere {
            let at = self.next_elsewhere;
            self.next_elsewhere += bytes.next_multiple_of(4096) + 4096;
            at
        } else {
            guest & !4095
        };
        self.resources
            .insert(resource, Object::User { guest, bytes, host });
    }

    /// Where a resource is, for the guest's processors.
    pub(super) fn place(&self, resource: u32) -> Option<Placed> {
        match self.resources.get(&resource)? {
            Object::Memory { address, .. } => {
                let memory = self.library.memory_at(*address).ok()?;
                Some(Placed {
                    file: self.library.render_file(memory.gpu),
                    offset: memory.offset,
                })
            }
            Object::Doorbells { page } => Some(Placed {
                file: self.library.kfd_file(),
                offset: *page,
            }),
            _ => None,
        }
    }

    /// Ends a resource.
    pub(super) fn close(&mut self, resource: u32) {
        let Some(object) = self.resources.remove(&resource) else {
            return;
        };
        if self.used.contains_key(&resource) {
            self.closed.insert(resource, object);
            return;
        }
        if self.end(&object).is_err() {
            // Nobody asks again: a failure that a script wanted is over by now.
            let again = self.end(&object);
            if again.is_err() {
                self.library
                    .kernel
                    .complain(format!("the host could not end {object:?}: {again:?}"));
            }
        }
    }

    fn end(&mut self, object: &Object) -> Answer<()> {
        match object {
            Object::Memory { address, bytes } => {
                self.library.free(*address, false)?;
                self.give(*address, *bytes);
            }
            Object::Piece { address, .. } => self.library.free(*address, false)?,
            Object::Scratch { address, .. } => {
                self.scratch_given.remove(&self.gpu_of_scratch(*address));
            }
            Object::Queue { id, memory, .. } => {
                self.library.destroy_queue(*id)?;
                for resource in memory {
                    let users = self.used.entry(*resource).or_insert(1);
                    *users -= 1;
                    if *users == 0 {
                        self.used.remove(resource);
                        if let Some(closed) = self.closed.remove(resource) {
                            let _ = self.end(&closed);
                        }
                    }
                }
            }
            Object::Event { id } => {
                let _ = self.library.set_event(*id);
                self.library.destroy_event(*id)?;
            }
            Object::Doorbells { .. } | Object::User { .. } => {}
        }
        Ok(())
    }

    /// Answers a message: its command's name, and the bytes of the answer with head and result.
    pub(super) fn answer(&mut self, message: &[u8]) -> Result<(String, Vec<u8>), Errno> {
        let head = Message(message[..16].to_vec());
        let room = |bytes: usize| {
            let mut copy = message.to_vec();
            copy.resize(copy.len().max(bytes), 0);
            Message(copy)
        };
        let (name, values, bytes) = match head.word(0) {
            2 => self.query(&room(128)),
            3 => self.event(&room(104)),
            4 => self.memory(&room(80)),
            5 => self.queue(&room(136)),
            _ => return Err(Errno::INVAL),
        };
        let mut answer = Bytes::new(bytes);
        match self.library.kernel.faults.check(&format!("host {name}")) {
            Err(errno) => {
                let _ = values;
                answer.word(4, u32::from_ne_bytes((-errno.raw_os_error()).to_ne_bytes()));
            }
            Ok(()) => match values(self) {
                Ok(values) => {
                    let end = 8 + values.len();
                    if answer.0.len() < end {
                        answer.0.resize(end, 0);
                    }
                    answer.0[8..end].copy_from_slice(&values);
                }
                Err(status) => {
                    answer.word(4, u32::from_ne_bytes(status.to_ne_bytes()));
                }
            },
        }
        let length = u32::try_from(answer.0.len()).map_err(|_| Errno::NOMEM)?;
        answer.word(0, length);
        Ok((name.to_owned(), answer.0))
    }
}

/// What a message is to do, once it is known not to fail.
type Act = Box<dyn FnOnce(&mut Host) -> Answer<Vec<u8>>>;
/// Name, deed, and bytes of the answer.
type Command = (&'static str, Act, usize);

fn longs(values: &[u64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn words(values: &[u32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

impl Host {
    fn node(&self, number: u32) -> Answer<&hansa_kfd::topology::Node> {
        self.topology.node(number).ok_or(status::INVALID_NODE)
    }

    /// A list after the values, of as many entries as were asked for.
    fn list(bytes: &[u8], count: u32, each: usize) -> Answer<Vec<u8>> {
        if count > 128 || count as usize * each > bytes.len() {
            return Err(status::INVALID_PARAMETER);
        }
        let mut values = vec![0; 416];
        values.extend_from_slice(&bytes[..count as usize * each]);
        Ok(values)
    }

    #[expect(clippy::unused_self, reason = "as its sisters")]
    fn query(&self, m: &Message) -> Command {
        let (kind, a) = (m.word(48), [m.word(56), m.word(60), m.word(64)]);
        let heap = m.long(56);
        let (name, act): (&'static str, Act) = match kind {
            0 => ("GPU_INFO", Box::new(|host: &mut Self| host.gpu_info())),
            1 => (
                "OPEN_KFD",
                Box::new(move |host: &mut Self| {
                    if heap > host.base {
                        return Err(status::ERROR);
                    }
                    Ok(longs(&[host.base, RANGE_BYTES]))
                }),
            ),
            2 => (
                "GET_VER",
                Box::new(|host: &mut Self| Ok(words(&[1, host.library.kernel.options.minor]))),
            ),
            4 => (
                "GET_SYS_PROP",
                Box::new(|host: &mut Self| {
                    let nodes = u32::try_from(host.topology.nodes.len()).unwrap_or(0);
                    Ok(words(&[nodes, 0, 0, 0]))
                }),
            ),
            5 => (
                "GET_NODE_PROP",
                Box::new(move |host: &mut Self| host.node(a[0]).map(answers::node)),
            ),
            6 => (
                "GET_XNACK_MODE",
                Box::new(|host: &mut Self| Ok(words(&[u32::from(host.library.kernel.process().xnack)]))),
            ),
            9 => (
                "GET_NOD_MEM_PROP",
                Box::new(move |host: &mut Self| Self::list(&answers::banks(host.node(a[0])?), a[1], 32)),
            ),
            10 => (
                "GET_NOD_CACHE_PROP",
                Box::new(move |host: &mut Self| Self::list(&answers::caches(host.node(a[0])?), a[2], 1056)),
            ),
            11 => (
                "GET_NOD_IO_LINK_PROP",
                Box::new(move |host: &mut Self| Self::list(&answers::links(host.node(a[0])?), a[1], 52)),
            ),
            12 => (
                "GET_CLOCK_COUNTERS",
                Box::new(move |host: &mut Self| host.library.clocks(a[0]).map(|clocks| longs(&clocks))),
            ),
            _ => return unknown(format!("question {kind}"), 424),
        };
        (name, act, 424)
    }

    fn gpu_info(&self) -> Answer<Vec<u8>> {
        let gpu = self.library.kernel.machine.gpus.first().ok_or(-19)?;
        let mut bytes = Bytes::new(416);
        bytes.word(0, gpu.device_id).word(12, 141).word(72, 100_000);
        Ok(bytes.0)
    }

    #[expect(clippy::unused_self, reason = "as its sisters")]
    fn event(&self, m: &Message) -> Command {
        let (kind, number, resource) = (m.word(80), m.long(88), m.word(96));
        let handle = m.long(16);
        let manual = m.0[40] != 0;
        let (code, data, node) = (m.long(16), m.long(32), m.word(48));
        let known = move |host: &Self| match host.resources.get(&resource) {
            Some(Object::Event { id }) if u64::from(*id) == handle & 0xffff_ffff => Ok(*id),
            _ => Err(status::INVALID_HANDLE),
        };
        let (name, act): (&'static str, Act) = match kind {
            0 => (
                "EVENT_CREATE",
                Box::new(move |host: &mut Self| {
                    let made = host.library.create_event(!manual)?;
                    host.file(number, Object::Event { id: made.id })?;
                    let mut bytes = Bytes::new(72);
                    bytes
                        .word(0, made.id)
                        .long(36, made.mailbox)
                        .word(44, made.id)
                        .long(48, 7 << 32 | u64::from(made.id));
                    Ok(bytes.0)
                }),
            ),
            1 => (
                "EVENT_DESTROY",
                Box::new(move |host: &mut Self| {
                    let wanted = |object: &Object| matches!(object, Object::Event { id } if u64::from(*id) == handle & 0xffff_ffff);
                    host.discard(wanted)
                }),
            ),
            2 => (
                "EVENT_SET",
                Box::new(move |host: &mut Self| {
                    host.library.set_event(known(host)?)?;
                    Ok(Vec::new())
                }),
            ),
            3 => (
                "EVENT_RESET",
                Box::new(move |host: &mut Self| {
                    host.library.reset_event(known(host)?)?;
                    Ok(Vec::new())
                }),
            ),
            4 => (
                "EVENT_QUERY_STATE",
                Box::new(move |host: &mut Self| {
                    host.library.query_event(known(host)?)?;
                    Ok(Vec::new())
                }),
            ),
            6 => (
                "SET_TRAP_HANDLER",
                Box::new(move |host: &mut Self| {
                    host.library.set_trap_handler(node, code, data)?;
                    Ok(Vec::new())
                }),
            ),
            _ => return unknown(format!("event message {kind}"), 80),
        };
        (name, act, 80)
    }

    /// Ends an object that no resource was made of.
    fn discard(&mut self, wanted: impl Fn(&Object) -> bool) -> Answer<Vec<u8>> {
        let number = self
            .filed
            .iter()
            .find(|(_, object)| wanted(object))
            .map(|(number, _)| *number)
            .ok_or(status::INVALID_HANDLE)?;
        let object = self.filed.get(&number).cloned().ok_or(status::ERROR)?;
        self.end(&object)?;
        self.filed.remove(&number);
        Ok(Vec::new())
    }

    #[expect(clippy::unused_self, reason = "as its sisters")]
    fn memory(&self, m: &Message) -> Command {
        let (kind, number, resource) = (m.word(72), m.long(64), m.word(76));
        let (address, bytes) = (m.long(16), m.long(24));
        let (node, flags) = (m.word(16), m.word(20));
        let (third, create) = (m.word(32), m.0[32]);
        let count = usize::try_from(m.long(48)).unwrap_or(usize::MAX);
        let nodes: Option<Vec<u32>> = count
            .checked_mul(4)
            .filter(|bytes| *bytes <= m.0.len() - 80)
            .map(|_| (0..count).map(|index| m.word(80 + index * 4)).collect());
        let (name, act): (&'static str, Act) = match kind {
            0 => (
                "MEMORY_ALLOC",
                Box::new(move |host: &mut Self| host.allocate(node, flags, bytes, number)),
            ),
            1 => (
                "MAP_TO_GPU_NODES",
                Box::new(move |host: &mut Self| {
                    host.library
                        .map_exactly(address, &nodes.ok_or(status::INVALID_PARAMETER)?)?;
                    Ok(longs(&[address]))
                }),
            ),
            2 => (
                "MEMORY_FREE",
                Box::new(move |host: &mut Self| {
                    host.discard(|object| {
                        matches!(object, Object::Memory { address: at, .. } | Object::Scratch { address: at, .. } if *at == address)
                    })
                }),
            ),
            3 => (
                "UNMAP_TO_GPU",
                Box::new(move |host: &mut Self| {
                    let piece = |object: &Object| matches!(object, Object::Piece { address: at, .. } if *at == address);
                    if host.filed.values().any(piece) {
                        return host.discard(piece);
                    }
                    host.library.map_exactly(address, &[])?;
                    Ok(Vec::new())
                }),
            ),
            4 => (
                "AVAIL_MEM",
                Box::new(move |host: &mut Self| Ok(longs(&[host.library.available(node)?]))),
            ),
            5 => (
                "MAP_MEM_TO_GPU",
                Box::new(move |host: &mut Self| host.map_scratch(address, bytes, create != 0, number)),
            ),
            6 => (
                "REG_MEM_WITH_FLAG",
                Box::new(move |host: &mut Self| match host.resources.get(&resource) {
                    Some(Object::User {
                        guest,
                        bytes: all,
                        host: at,
                    }) if *all == bytes && at + (guest & 4095) == address => {
                        let (guest, bytes) = (*guest, *all);
                        host.library.register(address, guest, bytes, third & 8 != 0)?;
                        Ok(Vec::new())
                    }
                    _ => Err(-22),
                }),
            ),
            7 => (
                "DEREG_MEM",
                Box::new(move |host: &mut Self| {
                    host.library.free(address, true)?;
                    Ok(Vec::new())
                }),
            ),
            8 => (
                "MAP_USERPTR",
                Box::new(move |host: &mut Self| match host.resources.get(&resource) {
                    Some(Object::User { host: at, .. }) => Ok(longs(&[*at, 1])),
                    _ => Err(-22),
                }),
            ),
            _ => return unknown(format!("memory message {kind}"), 24),
        };
        (name, act, 24)
    }

    fn allocate(&mut self, node: u32, flags: u32, bytes: u64, number: u64) -> Answer<Vec<u8>> {
        if bytes == 0 || !bytes.is_multiple_of(4096) || bytes > RANGE_BYTES {
            return Err(status::INVALID_PARAMETER);
        }
        if self.filed.contains_key(&number) {
            return Err(-22);
        }
        if flags & 0x200 != 0 {
            let gpu = self.library.gpu_at(node)?;
            if self.scratch_given.contains(&gpu) || bytes > SCRATCH_BYTES {
                return Err(status::NO_MEMORY);
            }
            let address = self.base + RANGE_BYTES + gpu as u64 * SCRATCH_BYTES;
            self.file(number, Object::Scratch { address, bytes })?;
            self.scratch_given.insert(gpu);
            return Ok(longs(&[address]));
        }
        let local = flags & 1 != 0 && node != 0;
        let address = self.take(bytes, if local { 2 << 20 } else { 4096 })?;
        if let Err(status) = self.library.allocate(node, address, bytes, flags) {
            self.give(address, bytes);
            return Err(status);
        }
        self.file(number, Object::Memory { address, bytes })?;
        Ok(longs(&[address]))
    }

    /// Whose range for private memory an address is in.
    fn gpu_of_scratch(&self, address: u64) -> usize {
        let distance = address.wrapping_sub(self.base + RANGE_BYTES);
        usize::try_from(distance / SCRATCH_BYTES).unwrap_or(usize::MAX)
    }

    fn map_scratch(&mut self, address: u64, bytes: u64, create: bool, number: u64) -> Answer<Vec<u8>> {
        let gpu = self.gpu_of_scratch(address);
        if !create || !self.scratch_given.contains(&gpu) || !bytes.is_multiple_of(4096) {
            return Err(status::INVALID_PARAMETER);
        }
        let node = self.library.kernel.machine.gpus[gpu].node;
        self.library.allocate(node, address, bytes, 1)?;
        if let Err(status) = self.library.map_exactly(address, &[node]) {
            let _ = self.library.free(address, false);
            return Err(status);
        }
        self.file(number, Object::Piece { address, bytes })?;
        Ok(longs(&[address]))
    }

    #[expect(clippy::unused_self, reason = "as its sisters")]
    fn queue(&self, m: &Message) -> Command {
        let kind = m.word(124);
        let id = m.long(16);
        let node = m.word(16);
        let (number, doorbells, indices, ring) = (m.long(96), m.long(112), m.word(120), m.word(128));
        let is_aql = m.word(20) == 21 && m.word(44) == u32::MAX;
        let percent = m.word(24);
        let request = CreateQueue {
            ring_base_address: m.long(48),
            ring_size: m.word(56),
            write_pointer_address: m.long(80),
            read_pointer_address: m.long(88),
            queue_percentage: percent,
            queue_priority: 7,
            ..CreateQueue::default()
        };
        let (name, act): (&'static str, Act) = match kind {
            0 => (
                "QUEUE_CREATE",
                Box::new(move |host: &mut Self| {
                    if !is_aql
                        || !host.resources.contains_key(&indices)
                        || !host.resources.contains_key(&ring)
                    {
                        return Err(status::INVALID_PARAMETER);
                    }
                    host.create_queue(node, request, (number, doorbells), [indices, ring])
                }),
            ),
            1 => (
                "QUEUE_DESTROY",
                Box::new(move |host: &mut Self| {
                    host.discard(
                        |object| matches!(object, Object::Queue { id: of, .. } if u64::from(*of) == id),
                    )
                }),
            ),
            _ => return unknown(format!("queue message {kind}"), 96),
        };
        (name, act, 96)
    }

    fn create_queue(
        &mut self,
        node: u32,
        request: CreateQueue,
        (number, doorbells): (u64, u64),
        memory: [u32; 2],
    ) -> Answer<Vec<u8>> {
        let bytes = u64::from(request.ring_size);
        if doorbells == 0 && !self.doorbells.contains_key(&node) {
            return Err(status::INVALID_PARAMETER);
        }
        let made = self.library.create_queue(node, request)?;
        let id = made.id;
        for resource in memory {
            *self.used.entry(resource).or_insert(0) += 1;
        }
        self.file(number, Object::Queue { id, bytes, memory })?;
        if doorbells != 0 {
            self.file(doorbells, Object::Doorbells { page: made.page })?;
        }
        let base = self.base + DOORBELLS + made.gpu as u64 * (1 << 20);
        self.doorbells.insert(node, base);
        let mut values = Bytes::new(88);
        values
            .long(0, u64::from(id))
            .long(8, base + made.place)
            .long(40, base + made.place)
            .long(48, made.place);
        Ok(values.0)
    }
}

/// A message that no host knows.
fn unknown(what: String, bytes: usize) -> Command {
    let act = move |host: &mut Host| {
        host.library.kernel.complain(format!("unknown {what}"));
        Err(-22)
    };
    ("unknown", Box::new(act), bytes)
}
