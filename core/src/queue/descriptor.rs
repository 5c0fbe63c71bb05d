//! A queue in memory.
//!
//! The descriptor is `amd_queue_v2_t` (Debian's `hsa/amd_hsa_queue.h`, 2304 bytes), which begins with the public
//! `hsa_queue_t`; devices read it and write the read index. It sits at the start of a 4 KiB slot of an arena;
//! the slot's end is the runtime's. An `hsa_queue_t*` is the slot's address.

use crate::memory::arena::Arena;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Bytes of a slot.
pub const SLOT_BYTES: usize = 4096;
/// Most queues of a process.
pub const MAX_QUEUES: usize = 1 << 14;
/// Marks a live queue.
pub const TAG: u64 = 0x4861_6e73_6151_7565;

/// Marks a live name of another queue.
pub const NAME_TAG: u64 = 0x4861_6e73_614e_616d;

/// All queues of the process.
pub static ARENA: Arena = Arena::new(SLOT_BYTES, MAX_QUEUES);

/// Bit of [`Descriptor::caps`]: scratch may be taken back while the queue runs, and the structure is the long one.
pub const CAN_RECLAIM: u32 = 1 << 1;

/// Bits of [`Descriptor::properties`].
pub mod property {
    /// Addresses have 64 bits.
    pub const IS_PTR64: u32 = 1 << 1;
    /// Completion signals get timestamps.
    pub const ENABLE_PROFILING: u32 = 1 << 3;
    /// Scratch is given back after one dispatch.
    pub const USE_SCRATCH_ONCE: u32 = 1 << 4;
}

/// A queue's slot.
#[repr(C, align(64))]
#[derive(Debug)]
pub struct Descriptor {
    /// `hsa_queue_type_t`.
    pub kind: AtomicU32,
    /// Kinds of packets it takes: 1 kernel dispatch, 2 agent dispatch.
    pub features: AtomicU32,
    /// The ring.
    pub base_address: AtomicU64,
    /// The doorbell's handle.
    pub doorbell: AtomicU64,
    /// Packets of the ring.
    pub size: AtomicU32,
    reserved1: AtomicU32,
    /// A number that no other queue of the process has.
    pub id: AtomicU64,
    /// Firmware capabilities.
    pub caps: AtomicU32,
    reserved2: [AtomicU32; 3],
    /// The write index.
    pub write_index: AtomicU64,
    /// Bits 63:32 of the address where group memory appears.
    pub group_aperture_hi: AtomicU32,
    /// Bits 63:32 of the address where private memory appears.
    pub private_aperture_hi: AtomicU32,
    /// Compute units, less one.
    pub max_cu_id: AtomicU32,
    /// Waves of a compute unit, less one.
    pub max_wave_id: AtomicU32,
    max_legacy_doorbell: AtomicU64,
    legacy_doorbell_lock: AtomicU32,
    reserved3: [AtomicU32; 9],
    /// The read index.
    pub read_index: AtomicU64,
    /// Offset of `read_index` in the descriptor.
    pub read_index_offset: AtomicU32,
    /// `COMPUTE_TMPRING_SIZE`: waves that have scratch, and bytes of each in units of 1024.
    pub tmpring_size: AtomicU32,
    /// Buffer descriptor of scratch.
    pub scratch_descriptor: [AtomicU32; 4],
    /// Address of scratch.
    pub scratch_location: AtomicU64,
    /// Bytes of scratch.
    pub scratch_bytes: AtomicU64,
    /// Bytes of scratch of one work-item of a wave64.
    pub scratch_lane_bytes: AtomicU32,
    /// See [`property`].
    pub properties: AtomicU32,
    /// Where scratch is taken back: the last dispatch that may use what there is.
    pub scratch_max_use_index: AtomicU64,
    /// The signal through which the device reports errors.
    pub inactive_signal: AtomicU64,
    reserved4: [AtomicU32; 14],
    /// The last dispatch that used scratch, and alternate scratch, for each part of the device.
    pub scratch_last_used: [AtomicU64; 256],
    /// [`TAG`] while the queue lives, [`NAME_TAG`] while a name of another queue does.
    pub tag: AtomicU64,
    /// What kind of queue the runtime made it.
    pub role: AtomicU32,
    reserved5: AtomicU32,
    /// The queue that a name stands for.
    pub named: AtomicU64,
    reserved6: [AtomicU64; 221],
}

const _: () = {
    use std::mem::offset_of;
    assert!(size_of::<Descriptor>() == SLOT_BYTES);
    assert!(offset_of!(Descriptor, doorbell) == 16);
    assert!(offset_of!(Descriptor, id) == 32);
    assert!(offset_of!(Descriptor, write_index) == 56);
    assert!(offset_of!(Descriptor, group_aperture_hi) == 64);
    assert!(offset_of!(Descriptor, max_legacy_doorbell) == 80);
    assert!(offset_of!(Descriptor, read_index) == 128);
    assert!(offset_of!(Descriptor, tmpring_size) == 140);
    assert!(offset_of!(Descriptor, scratch_location) == 160);
    assert!(offset_of!(Descriptor, scratch_lane_bytes) == 176);
    assert!(offset_of!(Descriptor, inactive_signal) == 192);
    assert!(offset_of!(Descriptor, scratch_last_used) == 256);
    assert!(offset_of!(Descriptor, tag) == 2304);
};

/// [`Descriptor::role`]: the packet processor owns the read index.
pub const ROLE_DEVICE: u32 = 0;
/// [`Descriptor::role`]: the program owns the read index.
pub const ROLE_SOFT: u32 = 1;

impl Descriptor {
    /// The live queue behind a handle, or behind the queue that the handle is a name of; `None` for anything else.
    #[inline]
    #[must_use]
    pub fn of(handle: u64) -> Option<&'static Self> {
        let address = usize::try_from(handle).ok()?;
        if !ARENA.holds(address) {
            return None;
        }
        let queue = Self::at(address);
        if queue.tag.load(Ordering::Relaxed) == TAG {
            return Some(queue);
        }
        queue.behind_name()
    }

    /// The queue that a live name stands for.
    #[cold]
    fn behind_name(&self) -> Option<&'static Self> {
        if self.tag.load(Ordering::Acquire) != NAME_TAG {
            return None;
        }
        let address = usize::try_from(self.named.load(Ordering::Relaxed)).ok()?;
        let queue = ARENA.holds(address).then(|| Self::at(address))?;
        (queue.tag.load(Ordering::Relaxed) == TAG).then_some(queue)
    }

    /// The slot at an address that the arena holds.
    #[inline]
    #[must_use]
    pub(crate) fn at(address: usize) -> &'static Self {
        // SAFETY: the address is a committed slot of the arena, which is never unmapped; every field is atomic.
        unsafe { &*std::ptr::with_exposed_provenance::<Self>(address) }
    }

    /// The handle.
    #[must_use]
    pub fn handle(&self) -> u64 {
        std::ptr::from_ref(self).expose_provenance() as u64
    }

    /// Zeroes everything before the tag.
    pub(crate) fn clear(&self) {
        for field in [
            &self.kind,
            &self.features,
            &self.size,
            &self.caps,
            &self.group_aperture_hi,
            &self.private_aperture_hi,
            &self.max_cu_id,
            &self.max_wave_id,
            &self.read_index_offset,
            &self.tmpring_size,
            &self.scratch_lane_bytes,
            &self.properties,
            &self.role,
        ]
        .into_iter()
        .chain(&self.scratch_descriptor)
        {
            field.store(0, Ordering::Relaxed);
        }
        for field in [
            &self.base_address,
            &self.doorbell,
            &self.id,
            &self.write_index,
            &self.read_index,
            &self.scratch_location,
            &self.scratch_bytes,
            &self.scratch_max_use_index,
            &self.inactive_signal,
        ] {
            field.store(0, Ordering::Relaxed);
        }
        for index in &self.scratch_last_used {
            index.store(0, Ordering::Relaxed);
        }
    }
}
