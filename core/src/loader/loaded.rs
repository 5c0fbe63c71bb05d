//! A code object in an agent's memory.

use std::sync::Arc;

use super::code_object::{CodeObject, Layout};
use super::executable::{ExecutableError, LoadTarget};
use super::isa::ObjectTarget;
use super::placement::{AgentKey, Placed, Placement, PlacementError};
use super::reader::{address_of, CodeObjectReader};

/// The host keeps a copy of all of an object's memory if the part that only holds zeroes is not larger
/// than this; otherwise a copy of the part with contents.
const MAX_ZERO_TAIL: u64 = 256 << 20;

/// A code object that was loaded for an agent, and the host's copy of its memory.
#[derive(Debug)]
pub struct LoadedCodeObject {
    agent: AgentKey,
    placement: Arc<dyn Placement>,
    placed: Placed,
    layout: Layout,
    target: ObjectTarget,
    image: Vec<u8>,
    reader: CodeObjectReader,
}

impl LoadedCodeObject {
    /// Allocates device memory and prepares its contents on the host.
    pub(super) fn load(
        object: &CodeObject<'_>,
        reader: &CodeObjectReader,
        target: LoadTarget<'_>,
        resolve: &mut dyn FnMut(&str) -> Option<u64>,
    ) -> Result<Self, ExecutableError> {
        let layout = object.layout();
        let out_of_memory = || PlacementError::OutOfMemory { size: layout.size };
        let kept = if layout.size - layout.file_extent <= MAX_ZERO_TAIL {
            layout.size
        } else {
            layout.file_extent
        };
        let kept = usize::try_from(kept).map_err(|_| out_of_memory())?;
        let mut image = vec![0; kept];
        object.copy_segments(&mut image);
        let LoadTarget { agent, placement, .. } = target;
        let placed = placement.allocate(agent, layout.size, layout.align, true)?;
        if let Err(error) = object.relocate(&mut image, placed.device_address, resolve) {
            placement.free(agent, placed);
            return Err(error.into());
        }
        Ok(Self {
            agent,
            placement: Arc::clone(placement),
            placed,
            layout,
            target: object.target(),
            image,
            reader: reader.clone(),
        })
    }

    pub(super) fn upload(&self) -> Result<(), PlacementError> {
        let kept = u64::try_from(self.image.len()).unwrap_or(u64::MAX);
        let zero_tail = self.layout.size.saturating_sub(kept);
        self.placement
            .upload(self.agent, self.placed, &self.image, zero_tail)
    }

    pub(super) fn free(&self) {
        self.placement.free(self.agent, self.placed);
    }

    /// The agent it was loaded for.
    #[must_use]
    pub fn agent(&self) -> AgentKey {
        self.agent
    }

    /// What it was compiled for.
    #[must_use]
    pub fn target(&self) -> ObjectTarget {
        self.target
    }

    /// Where its bytes came from.
    #[must_use]
    pub fn reader(&self) -> &CodeObjectReader {
        &self.reader
    }

    /// The device address of its first byte.
    #[must_use]
    pub fn base(&self) -> u64 {
        self.placed.device_address
    }

    /// The bytes of its memory.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.layout.size
    }

    /// What to add to an address as linked to get the device address; wraps around if that is lower.
    #[must_use]
    pub fn delta(&self) -> u64 {
        self.base().wrapping_sub(self.layout.first_address)
    }

    /// The memory, as the implementation of [`Placement`] knows it.
    #[must_use]
    pub fn placed(&self) -> Placed {
        self.placed
    }

    /// Whether a range of device addresses is in its memory.
    #[must_use]
    pub fn contains(&self, device_address: u64, size: u64) -> bool {
        device_address
            .checked_sub(self.base())
            .and_then(|start| start.checked_add(size))
            .is_some_and(|end| end <= self.size())
    }

    /// The host's copy of what is at a device address, to the end of the copy. It has the values from
    /// load time, not what the device wrote since.
    #[must_use]
    pub fn host_bytes(&self, device_address: u64) -> Option<&[u8]> {
        let start = usize::try_from(device_address.checked_sub(self.base())?).ok()?;
        self.image.get(start..).filter(|bytes| !bytes.is_empty())
    }

    /// The address in this process of the host's copy of what is at a device address.
    #[must_use]
    pub fn host_address(&self, device_address: u64) -> Option<u64> {
        self.host_bytes(device_address).map(address_of)
    }
}
