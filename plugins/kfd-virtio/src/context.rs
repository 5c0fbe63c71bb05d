//! A context of virtio-gpu: the connection to the host, and resources.

use crate::discover::Found;
use crate::error::{Error, Result};
use crate::memory::Block;
use crate::queue::Doorbells;
use crate::transport::{Channel, SHARED_BYTES};
use crate::uapi::{
    ContextInit, CreateBlob, GemClose, Map, BLOB_HOST3D, BLOB_HOST3D_GUEST, BLOB_MAPPABLE, BLOB_USERPTR,
    CAPSET_HSAKMT, CONTEXT_CAPSET, CONTEXT_RINGS,
};
use crate::window::Window;
use crate::wire::{bytes, command, query, Answer, Message, VALUES};
use hansa_kfd::discover::open_node;
use hansa_kfd::ioctl::Node;
use hansa_plugin_api::sync::Mutex;
use hansa_plugin_api::sys::System;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::Arc;

/// Rings that the context asks for; commands go through the first.
const RINGS: u64 = 64;
/// The memory maps of this process.
const MAPS: &str = "/proc/self/maps";

/// A resource of the guest's kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resource {
    /// The kernel's number.
    pub gem: u32,
    /// The host's number.
    pub number: u32,
}

/// Memory of the process as a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UserResource {
    /// The resource.
    pub resource: Resource,
    /// Where the memory begins in it, if the kernel knew it.
    pub offset: u64,
}

/// An open context.
#[derive(Debug)]
pub struct Context {
    channel: Channel,
    /// The addresses that the host gives memory from.
    pub window: Window,
    /// The pages that queues are rung on.
    pub doorbells: Doorbells,
    /// Memory that stays when a driver is closed.
    pub(crate) kept: Mutex<Vec<Block>>,
    /// The number of the next object.
    next: AtomicU32,
    // Last: what is mapped is taken away before the file is closed.
    node: Node,
}

impl Context {
    /// Opens a context on a node, and the host's driver.
    ///
    /// # Errors
    ///
    /// What the kernel and the host say; nothing is left then.
    pub fn open(system: &Arc<dyn System>, found: &Found) -> Result<Self> {
        let node = open_node(system, &found.path)?;
        let mut pairs = [CONTEXT_CAPSET, u64::from(CAPSET_HSAKMT), CONTEXT_RINGS, RINGS];
        node.ask(&mut ContextInit {
            num_params: 2,
            pad: 0,
            params: pairs.as_mut_ptr().expose_provenance() as u64,
        })?;
        // The shared block is a resource of the context, and ends with it.
        let block = create(&node, BLOB_HOST3D, BLOB_MAPPABLE, SHARED_BYTES, 0, 0)?.resource;
        let channel = Channel::new(system, &node, place_of(&node, block)?)?;
        let heap = heap(system.as_ref()).unwrap_or_else(|| system.page_size() as u64);
        let open = Message::new(command::QUERY, bytes::QUERY)
            .word(query::KIND, query::OPEN)
            .long(query::ARGUMENTS, heap);
        let answer = channel.send(&node, "OPEN_KFD", open, bytes::QUERY_ANSWER)?;
        let window = Window::take(system, "OPEN_KFD", answer.long(VALUES), answer.long(VALUES + 8))?;
        Ok(Self {
            channel,
            window,
            doorbells: Doorbells::default(),
            kept: Mutex::default(),
            // 0 is the shared block, and 1 is left out as AMD's guest does.
            next: AtomicU32::new(2),
            node,
        })
    }

    /// The node.
    #[must_use]
    pub const fn node(&self) -> &Node {
        &self.node
    }

    /// The connection.
    #[must_use]
    pub const fn channel(&self) -> &Channel {
        &self.channel
    }

    /// Sends a message; see [`Channel::send`].
    ///
    /// # Errors
    ///
    /// As there.
    pub fn send(&self, request: &'static str, message: Message, bytes: usize) -> Result<Answer> {
        self.channel.send(&self.node, request, message, bytes)
    }

    /// Asks a question with words for arguments, whose answer has a list of so many bytes.
    ///
    /// # Errors
    ///
    /// See [`Channel::send`].
    pub fn query(&self, request: &'static str, kind: u32, arguments: &[u32], list: usize) -> Result<Answer> {
        let mut message = Message::new(command::QUERY, bytes::QUERY).word(query::KIND, kind);
        for (index, argument) in arguments.iter().enumerate() {
            message = message.word(query::ARGUMENTS + index * 4, *argument);
        }
        self.send(request, message, bytes::QUERY_ANSWER + list)
    }

    /// A number for an object that the next message makes.
    ///
    /// # Errors
    ///
    /// [`Error::Lost`] when all numbers were used.
    pub fn number(&self) -> Result<u64> {
        match self.next.fetch_add(1, Ordering::Relaxed) {
            0..=1 => Err(Error::Lost("all numbers of objects are used".into())),
            number => Ok(u64::from(number)),
        }
    }

    /// Makes a resource of the object that a message filed under a number.
    ///
    /// # Errors
    ///
    /// What the kernel says.
    pub fn adopt(&self, number: u64, bytes: u64, mappable: bool) -> Result<Resource> {
        let flags = if mappable { BLOB_MAPPABLE } else { 0 };
        create(&self.node, BLOB_HOST3D, flags, bytes, number, 0).map(|made| made.resource)
    }

    /// Makes a resource of memory of the process.
    ///
    /// # Errors
    ///
    /// What the kernel says; many kernels refuse all of it.
    pub fn adopt_user(&self, address: u64, bytes: u64) -> Result<UserResource> {
        let number = self.number()?;
        create(
            &self.node,
            BLOB_HOST3D_GUEST,
            BLOB_USERPTR,
            bytes,
            number,
            address,
        )
    }

    /// Where a resource is in the node's file.
    ///
    /// # Errors
    ///
    /// What the kernel says.
    pub fn place_of(&self, resource: Resource) -> Result<u64> {
        place_of(&self.node, resource)
    }

    /// Closes a resource; the host then ends what it stands for.
    ///
    /// # Errors
    ///
    /// What the kernel says; then it is still there.
    pub fn close(&self, resource: Resource) -> Result<()> {
        self.node.ask(&mut GemClose {
            handle: resource.gem,
            pad: 0,
        })?;
        Ok(())
    }

    /// Closes a resource when nobody is left to tell an error to: once more, if it is refused.
    pub fn close_at_last(&self, resource: Resource) {
        if self.close(resource).is_err() {
            let _ = self.close(resource);
        }
    }

    /// Sends a message that undoes something, when the first error is the one to tell: once more, if it is refused.
    pub fn undo(&self, request: &'static str, message: &Message, bytes: usize) {
        if self.send(request, message.clone(), bytes).is_err() {
            let _ = self.send(request, message.clone(), bytes);
        }
    }
}

fn create(node: &Node, whose: u32, flags: u32, size: u64, number: u64, user: u64) -> Result<UserResource> {
    let mut request = CreateBlob {
        blob_mem: whose,
        blob_flags: flags,
        size,
        blob_id: number,
        user,
        ..CreateBlob::default()
    };
    let known = node.ask(&mut request)? > 0;
    let offset = if known { request.offset } else { 0 };
    let nonsense = |what| Error::Nonsense {
        request: "RESOURCE_CREATE_BLOB",
        what,
    };
    if request.bo_handle == 0 || request.res_handle == 0 {
        return Err(nonsense(format!(
            "resource {}, number {}",
            request.bo_handle, request.res_handle
        )));
    }
    Ok(UserResource {
        resource: Resource {
            gem: request.bo_handle,
            number: request.res_handle,
        },
        offset: u64::try_from(offset).map_err(|_| nonsense(format!("offset {offset}")))?,
    })
}

fn place_of(node: &Node, resource: Resource) -> Result<u64> {
    let mut request = Map {
        handle: resource.gem,
        ..Map::default()
    };
    node.ask(&mut request)?;
    Ok(request.offset)
}

/// Where the process's heap ends: the host puts its range above it.
fn heap(system: &dyn System) -> Option<u64> {
    let maps = system.read_file(Path::new(MAPS)).ok()?;
    let maps = String::from_utf8_lossy(&maps);
    let line = maps.lines().find(|line| line.ends_with("[heap]"))?;
    let end = line.split_ascii_whitespace().next()?.split_once('-')?.1;
    u64::from_str_radix(end, 16).ok()
}
