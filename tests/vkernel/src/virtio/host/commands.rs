//! What each message is to do.
//!
//! A message is judged first, and answers its name and the deed: so that a script of failures can put an error in its place
//! before anything has happened.

use super::super::answers::{self, Bytes};
use super::super::library::{status, Answer};
use super::{Host, Message, Object, DOORBELLS, RANGE_BYTES, SCRATCH_BYTES};
use hansa_kfd::uapi::queue::CreateQueue;

/// What a message is to do, once it is known not to fail.
pub(super) type Act = Box<dyn FnOnce(&mut Host) -> Answer<Vec<u8>>>;
/// Name, deed, and bytes of the answer.
pub(super) type Command = (&'static str, Act, usize);

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
    pub(super) fn query(&self, m: &Message) -> Command {
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
    pub(super) fn event(&self, m: &Message) -> Command {
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
    pub(super) fn memory(&self, m: &Message) -> Command {
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
    pub(super) fn gpu_of_scratch(&self, address: u64) -> usize {
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
    pub(super) fn queue(&self, m: &Message) -> Command {
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
