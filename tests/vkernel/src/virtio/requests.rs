//! The guest's kernel: requests on virtio-gpu's render node, contexts and their resources.

use super::host::{Host, Placed, UserMemory};
use super::{Guest, Lie};
use crate::{user, Errno};
use hansa_kfd::uapi::Request;
use hansa_kfd_virtio::uapi::{
    ContextInit, CreateBlob, ExecBuffer, GemClose, GetCaps, GetParam, Map, Version,
};
use hansa_plugin_api::sys::{File, LinuxSystem, MapAccess, System};
use std::collections::HashMap;

/// Bytes of the block that guest and host share.
const SHARED_BYTES: u64 = 102_400;
/// Where answers begin in it.
const ANSWERS: usize = 16;
/// Most bytes of commands.
const MOST_COMMANDS: u32 = 1 << 20;

/// The shared block: a file, and the host's view of it.
#[derive(Debug)]
struct Shared {
    file: File,
    view: *mut u8,
}

// SAFETY: the view is a mapping of a file, which has no thread.
unsafe impl Send for Shared {}

impl Shared {
    fn new() -> Result<Self, Errno> {
        // SAFETY: the name is a string.
        let fd = unsafe { libc::memfd_create(c"vkernel-virtio-shared".as_ptr(), libc::MFD_CLOEXEC) };
        if fd < 0 {
            return Err(Errno::NOMEM);
        }
        let file = File(fd);
        // SAFETY: the descriptor was just made.
        let grown = unsafe { libc::ftruncate(fd, 102_400) };
        let access = MapAccess {
            read: true,
            write: true,
            execute: false,
        };
        // SAFETY: a new mapping.
        let view = unsafe { LinuxSystem.mmap(std::ptr::null_mut(), bytes(), access, Some(file), 0) };
        match view {
            Ok(view) if grown == 0 => {
                let shared = Self { file, view };
                shared.write(4, &16_u32.to_le_bytes());
                Ok(shared)
            }
            _ => {
                LinuxSystem.close(file);
                Err(Errno::NOMEM)
            }
        }
    }

    fn address(&self, at: usize, length: usize) -> u64 {
        assert!(at + length <= bytes());
        (self.view.expose_provenance() + at) as u64
    }

    /// Writes bytes; the caller keeps to the block.
    fn write(&self, at: usize, from: &[u8]) {
        // The guest reads whole words, any of which is a value; and the mapping is there as long as this object.
        let _ = user::write(self.address(at, from.len()), from);
    }

    fn word(&self, at: usize) -> u32 {
        let mut word = [0; 4];
        let _ = user::read(self.address(at, 4), &mut word);
        u32::from_le_bytes(word)
    }

    fn sequence(&self, number: u32) {
        // SAFETY: the first word of the mapping.
        let word = unsafe { std::sync::atomic::AtomicU32::from_ptr(self.view.cast()) };
        word.store(number, std::sync::atomic::Ordering::Release);
    }
}

fn bytes() -> usize {
    usize::try_from(SHARED_BYTES).unwrap_or(0)
}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: the mapping is this object's.
        let _ = unsafe { LinuxSystem.munmap(self.view, bytes()) };
        LinuxSystem.close(self.file);
    }
}

#[derive(Clone, Copy, Debug)]
struct Resource {
    number: u32,
    mappable: bool,
    bytes: u64,
    shared: bool,
}

/// A context.
#[derive(Debug)]
pub(super) struct Context {
    host: Host,
    shared: Option<Shared>,
    resources: HashMap<u32, Resource>,
    last: u32,
}

impl Context {
    pub(super) fn resources(&self) -> usize {
        self.resources.len()
    }

    pub(super) fn filed(&self) -> usize {
        self.host.filed()
    }
}

impl Guest {
    /// Answers a request on a node.
    pub(super) fn request(&self, fd: i32, code: u32, at: u64) -> Result<i32, Errno> {
        let node = *self.open.lock().get(&fd).ok_or(Errno::BADF)?;
        let name = match code {
            Version::CODE => Version::NAME,
            GemClose::CODE => GemClose::NAME,
            Map::CODE => Map::NAME,
            ExecBuffer::CODE => ExecBuffer::NAME,
            GetParam::CODE => GetParam::NAME,
            GetCaps::CODE => GetCaps::NAME,
            CreateBlob::CODE => CreateBlob::NAME,
            ContextInit::CODE => ContextInit::NAME,
            _ => {
                self.kernel
                    .complain(format!("unknown request {code:#010x} on virtio-gpu"));
                return Err(Errno::NOTTY);
            }
        };
        self.kernel.faults.check(name)?;
        if code == Version::CODE {
            return self.version(node, at);
        }
        if self.shape.nodes[node].1 != "virtio_gpu" {
            self.kernel
                .complain(format!("{name} on a node of {}", self.shape.nodes[node].1));
            return Err(Errno::NOTTY);
        }
        match code {
            GetParam::CODE => self.parameter(at),
            GetCaps::CODE => self.capset(at),
            ContextInit::CODE => self.init(fd, at),
            _ => {
                let mut contexts = self.contexts.lock();
                let context = contexts.get_mut(&fd).ok_or(Errno::INVAL)?;
                match code {
                    CreateBlob::CODE => self.create(context, at),
                    Map::CODE => map(context, at),
                    GemClose::CODE => close(context, at),
                    _ => self.execute(context, at),
                }
            }
        }
    }

    fn version(&self, node: usize, at: u64) -> Result<i32, Errno> {
        let mut a: Version = user::get(at, size_of::<Version>())?;
        let name = self.shape.nodes[node].1.as_bytes();
        let length = (name.len() as u64).min(a.name_bytes);
        user::write(a.name, &name[..usize::try_from(length).unwrap_or(0)])?;
        (a.major, a.minor, a.name_bytes) = (0, 1, name.len() as u64);
        user::put(at, size_of::<Version>(), &a).map(|()| 0)
    }

    fn parameter(&self, at: u64) -> Result<i32, Errno> {
        let a: GetParam = user::get(at, size_of::<GetParam>())?;
        let value = self.shape.parameters.get(&a.param).ok_or(Errno::INVAL)?;
        // The kernel writes an `int`.
        let low = u32::try_from(*value).map_err(|_| Errno::INVAL)?;
        user::write(a.value, &low.to_le_bytes()).map(|()| 0)
    }

    fn capset(&self, at: u64) -> Result<i32, Errno> {
        let a: GetCaps = user::get(at, size_of::<GetCaps>())?;
        if a.cap_set_id != 8 || a.cap_set_ver != 0 {
            return Err(Errno::INVAL);
        }
        let bytes: Vec<u8> = self
            .shape
            .capset
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect();
        let room = (a.size as usize).min(bytes.len());
        user::write(a.address, &bytes[..room]).map(|()| 0)
    }

    fn init(&self, fd: i32, at: u64) -> Result<i32, Errno> {
        let a: ContextInit = user::get(at, size_of::<ContextInit>())?;
        if a.num_params == 0 || a.num_params > 3 {
            return Err(Errno::INVAL);
        }
        let words = user::words(a.params, a.num_params as usize * 4)?;
        let pairs: Vec<(u32, u32)> = words.chunks_exact(4).map(|pair| (pair[0], pair[2])).collect();
        let rings = pairs
            .iter()
            .any(|(param, value)| *param == 2 && (1..=64).contains(value));
        if !pairs.contains(&(1, 8)) || !rings {
            return Err(Errno::INVAL);
        }
        let mut contexts = self.contexts.lock();
        if contexts.contains_key(&fd) {
            return Err(Errno::EXIST);
        }
        let context = Context {
            host: Host::open(&self.kernel)?,
            shared: None,
            resources: HashMap::new(),
            last: 0,
        };
        contexts.insert(fd, context);
        Ok(0)
    }

    fn create(&self, context: &mut Context, at: u64) -> Result<i32, Errno> {
        let mut a: CreateBlob = user::get(at, size_of::<CreateBlob>())?;
        if a.size == 0 || a.cmd_size != 0 || a.cmd != 0 || a.blob_flags & !9 != 0 {
            return Err(Errno::INVAL);
        }
        let number = context.last + 1;
        let mappable = a.blob_flags & 1 != 0;
        let mut shared = false;
        match (a.blob_mem, a.blob_id) {
            (3, _) => {
                if a.blob_flags != 8 || self.shape.user_memory == UserMemory::Refused || a.user == 0 {
                    return Err(Errno::INVAL);
                }
                let mut probe = [0];
                user::read(a.user, &mut probe)?;
                user::read(a.user + a.size - 1, &mut probe)?;
                context
                    .host
                    .adopt_user(number, a.user, a.size, self.shape.user_memory);
            }
            (2, 0) => {
                if context.shared.is_some() || a.size != SHARED_BYTES || a.blob_flags != 1 {
                    return Err(Errno::INVAL);
                }
                context.shared = Some(Shared::new()?);
                shared = true;
            }
            (2, filed) if a.blob_flags & 8 == 0 => context.host.adopt(filed, number, a.size, mappable)?,
            _ => return Err(Errno::INVAL),
        }
        context.last = number;
        // The guest's numbers and the host's differ, as they do.
        a.bo_handle = number + 100;
        a.res_handle = number;
        context.resources.insert(
            a.bo_handle,
            Resource {
                number,
                mappable,
                bytes: a.size,
                shared,
            },
        );
        user::put(at, size_of::<CreateBlob>(), &a).map(|()| 0)
    }

    /// Where an offset of a node's file is.
    pub(super) fn place(&self, fd: i32, offset: u64, bytes: u64) -> Result<Placed, Errno> {
        let contexts = self.contexts.lock();
        let context = contexts.get(&fd).ok_or(Errno::INVAL)?;
        let gem = u32::try_from(offset >> 32).map_err(|_| Errno::INVAL)?;
        let resource = context.resources.get(&gem).ok_or(Errno::INVAL)?;
        if !resource.mappable || offset & 0xffff_ffff != 0 || bytes > resource.bytes {
            return Err(Errno::INVAL);
        }
        if resource.shared {
            let shared = context.shared.as_ref().ok_or(Errno::INVAL)?;
            return Ok(Placed {
                file: shared.file,
                offset: 0,
            });
        }
        context.host.place(resource.number).ok_or(Errno::INVAL)
    }

    fn execute(&self, context: &mut Context, at: u64) -> Result<i32, Errno> {
        let mut a: ExecBuffer = user::get(at, size_of::<ExecBuffer>())?;
        let plain = a.num_bo_handles | a.num_in_syncobjs | a.num_out_syncobjs | a.ring_idx;
        if a.flags != 6 || plain != 0 || a.size > MOST_COMMANDS {
            self.kernel
                .complain(format!("EXECBUFFER with flags {} and {} bytes", a.flags, a.size));
            return Err(Errno::INVAL);
        }
        let mut commands = vec![0; a.size as usize];
        user::read(a.command, &mut commands)?;
        let fence = self.run(context, &commands)?;
        a.fence_fd = if fence { self.fence()? } else { -1 };
        user::put(at, size_of::<ExecBuffer>(), &a).map(|()| 0)
    }

    /// A fence that has happened.
    fn fence(&self) -> Result<i32, Errno> {
        // SAFETY: makes a descriptor.
        let fd = unsafe { libc::eventfd(1, libc::EFD_CLOEXEC) };
        if fd < 0 {
            return Err(Errno::MFILE);
        }
        self.fences.lock().insert(fd);
        Ok(fd)
    }

    /// Runs messages one after the other. Answers whether there is to be a fence.
    fn run(&self, context: &mut Context, mut commands: &[u8]) -> Result<bool, Errno> {
        let mut fence = true;
        while !commands.is_empty() {
            let word = |at: usize| {
                let bytes = commands.get(at..at + 4).ok_or(Errno::INVAL)?;
                Ok::<u32, Errno>(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
            };
            let (length, sequence, place) = (word(4)? as usize, word(8)?, word(12)? as usize);
            if length < 16 || length % 8 != 0 || length > commands.len() || place % 8 != 0 {
                return Err(Errno::INVAL);
            }
            let message = &commands[..length];
            commands = &commands[length..];
            let (name, mut answer) = context.host.answer(message)?;
            let shared = context.shared.as_ref().ok_or(Errno::INVAL)?;
            let start = ANSWERS + place;
            if start + 8 > bytes() {
                return Err(Errno::INVAL);
            }
            let room = shared.word(start) as usize;
            if room < 8 || start + room > bytes() {
                return Err(Errno::INVAL);
            }
            let mut reached = sequence;
            let mut silent = false;
            answer.truncate(room);
            let length = u32::try_from(answer.len()).map_err(|_| Errno::INVAL)?;
            answer[..4].copy_from_slice(&length.to_le_bytes());
            for lie in self.lies_about(&name) {
                match lie {
                    Lie::Word(at, value) => answer[at..at + 4].copy_from_slice(&value.to_le_bytes()),
                    Lie::Long(at, value) => answer[at..at + 8].copy_from_slice(&value.to_le_bytes()),
                    Lie::Length(length) => answer[..4].copy_from_slice(&length.to_le_bytes()),
                    Lie::Sequence(by) => reached = reached.wrapping_add_signed(by),
                    Lie::Silence => silent = true,
                    Lie::NoFence => fence = false,
                    Lie::Shared(index, value) => shared.write(index * 4, &value.to_le_bytes()),
                }
            }
            if !silent {
                shared.write(start, &answer);
                shared.sequence(reached);
            }
        }
        Ok(fence)
    }
}

fn map(context: &mut Context, at: u64) -> Result<i32, Errno> {
    let mut a: Map = user::get(at, size_of::<Map>())?;
    let resource = context.resources.get(&a.handle).ok_or(Errno::NOENT)?;
    if !resource.mappable {
        return Err(Errno::INVAL);
    }
    a.offset = u64::from(a.handle) << 32;
    user::put(at, size_of::<Map>(), &a).map(|()| 0)
}

fn close(context: &mut Context, at: u64) -> Result<i32, Errno> {
    let a: GemClose = user::get(at, size_of::<GemClose>())?;
    let resource = context.resources.remove(&a.handle).ok_or(Errno::INVAL)?;
    if resource.shared {
        context.shared = None;
    } else {
        context.host.close(resource.number);
    }
    Ok(0)
}
