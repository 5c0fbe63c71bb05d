//! What one runtime's image extension holds: agents, images, samplers.

use crate::chip::Chip;
use crate::entry::{Failure, Outcome};
use crate::format::Format;
use crate::geometry::Extent;
use crate::layout::Layout;
use crate::slots::Slots;
use hansa_extension_lib::serving::Serves;
use hansa_plugin_api::hsa::hsa_status_t;
use hansa_plugin_api::{AgentCaps, AgentKind, HostRef, RuntimeServicesRef};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// An agent's texture hardware.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hardware {
    /// Its generation.
    pub(crate) chip: Chip,
    /// PCI vendor in the high half, device in the low half.
    pub(crate) pci_id: u32,
}

/// An image.
#[derive(Debug)]
pub(crate) struct Image {
    /// The agent it was made for.
    pub(crate) agent: u64,
    /// Its size.
    pub(crate) extent: Extent,
    /// Its format.
    pub(crate) format: Format,
    /// Where its elements lie; `None` if another API laid them out in a way that only the hardware knows.
    pub(crate) layout: Option<Layout>,
    /// Its first byte, as the agent sees it.
    pub(crate) address: u64,
}

/// What a handle stands for.
#[derive(Clone, Debug)]
enum Object {
    Image(Arc<Image>),
    Sampler,
}

/// The extension of one runtime.
#[derive(Debug)]
pub(crate) struct Module {
    host: HostRef<'static>,
    runtime: RuntimeServicesRef<'static>,
    slots: Slots,
    objects: Mutex<HashMap<u64, Object>>,
}

impl Serves for Module {
    fn host(&self) -> HostRef<'static> {
        self.host
    }

    fn runtime(&self) -> RuntimeServicesRef<'static> {
        self.runtime
    }
}

impl Module {
    /// An extension without images.
    pub(crate) fn new(host: HostRef<'static>, runtime: RuntimeServicesRef<'static>) -> Self {
        Self {
            host,
            runtime,
            slots: Slots::default(),
            objects: Mutex::default(),
        }
    }

    /// The texture hardware of an agent, if it has any. INVALID_AGENT.
    pub(crate) fn hardware(&self, agent: u64) -> Outcome<Option<Hardware>> {
        if self.kind(agent)? == AgentKind::CPU {
            return Ok(None);
        }
        let description = self.runtime.device_description(agent)?;
        if !description.caps.contains(AgentCaps::IMAGES) {
            return Ok(None);
        }
        Ok(Chip::of(&description.name).map(|chip| Hardware {
            chip,
            pci_id: description.vendor_id << 16 | description.device_id & 0xffff,
        }))
    }

    /// Goes on if a handle is an agent. INVALID_AGENT.
    pub(crate) fn agent(&self, agent: u64) -> Outcome {
        self.kind(agent).map(drop)
    }

    fn kind(&self, agent: u64) -> Outcome<AgentKind> {
        let invalid = |_| Failure::Status(hsa_status_t::ERROR_INVALID_AGENT);
        self.runtime.agent_kind(agent).map_err(invalid)
    }

    /// Where the host sees an address of a device. An address that nobody knows is the host's own. ERROR for memory that
    /// the host cannot see.
    pub(crate) fn seen_by_host(&self, address: u64) -> Outcome<u64> {
        let info = self.runtime.memory()?.pointer_info(address, false)?;
        if info.kind == hansa_plugin_api::PointerInfo::UNKNOWN {
            return Ok(address);
        }
        let inside = address.wrapping_sub(info.agent_base);
        if info.host_base == 0 || inside >= info.bytes {
            // A host address of memory that devices see elsewhere, or a device's own.
            let own = info.host_base != 0 && address.wrapping_sub(info.host_base) < info.bytes;
            return if own {
                Ok(address)
            } else {
                Err(hsa_status_t::ERROR.into())
            };
        }
        Ok(info.host_base + inside)
    }

    /// Keeps an image under a new handle. OUT_OF_RESOURCES.
    pub(crate) fn add_image(&self, image: Image, words: &[u32]) -> Outcome<u64> {
        self.add(Object::Image(Arc::new(image)), words)
    }

    /// Keeps a sampler under a new handle. OUT_OF_RESOURCES.
    pub(crate) fn add_sampler(&self, words: &[u32]) -> Outcome<u64> {
        self.add(Object::Sampler, words)
    }

    fn add(&self, object: Object, words: &[u32]) -> Outcome<u64> {
        let handle = self.slots.take(self.runtime, self.runtime.memory()?, words)?;
        self.book(|objects| objects.insert(handle, object));
        Ok(handle)
    }

    /// The image of a handle. INVALID_ARGUMENT.
    pub(crate) fn image(&self, handle: u64) -> Outcome<Arc<Image>> {
        match self.book(|objects| objects.get(&handle).cloned()) {
            Some(Object::Image(image)) => Ok(image),
            _ => Err(hsa_status_t::ERROR_INVALID_ARGUMENT.into()),
        }
    }

    /// Ends an image. INVALID_ARGUMENT.
    pub(crate) fn remove_image(&self, handle: u64) -> Outcome {
        self.remove(handle, |object| matches!(object, Object::Image(_)))
    }

    /// Ends a sampler. INVALID_ARGUMENT.
    pub(crate) fn remove_sampler(&self, handle: u64) -> Outcome {
        self.remove(handle, |object| matches!(object, Object::Sampler))
    }

    fn remove(&self, handle: u64, is_right: impl FnOnce(&Object) -> bool) -> Outcome {
        let removed = self.book(|objects| {
            let right = objects.get(&handle).is_some_and(is_right);
            right.then(|| objects.remove(&handle)).flatten()
        });
        if removed.is_none() {
            return Err(hsa_status_t::ERROR_INVALID_ARGUMENT.into());
        }
        self.slots.give(handle);
        Ok(())
    }

    fn book<T>(&self, look: impl FnOnce(&mut HashMap<u64, Object>) -> T) -> T {
        look(&mut self.objects.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
