//! Events: what waits sleep on, and what a device reports by itself.

use super::description::flag_word;
use abi_stable::std_types::RString;
use abi_stable::StableAbi;

/// What an event is raised by.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, StableAbi)]
pub struct EventKind(pub u32);

impl EventKind {
    /// A signal's mailbox.
    pub const SIGNAL: Self = Self(0);
    /// A memory fault of a device.
    pub const MEMORY_FAULT: Self = Self(1);
    /// A hardware exception of a device.
    pub const HARDWARE_EXCEPTION: Self = Self(2);
}

/// A request for an event.
#[repr(C)]
#[derive(Clone, Copy, Debug, StableAbi)]
pub struct EventRequest {
    /// What raises it.
    pub kind: EventKind,
    /// 1: stays raised until it is reset; 0: one wait takes it.
    pub manual_reset: u32,
    /// The node, for faults and exceptions.
    pub node: u32,
    /// Zero.
    pub reserved: u32,
}

/// An event that a driver made.
#[repr(C)]
#[derive(Clone, Copy, Debug, StableAbi)]
pub struct EventInfo {
    /// The number that a device writes to the mailbox.
    pub event: u32,
    /// Zero.
    pub reserved: u32,
    /// Address of the mailbox, as the device sees it.
    pub mailbox: u64,
}

/// What a device reports by itself.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, StableAbi)]
pub struct DeviceEventKind(pub u32);

impl DeviceEventKind {
    /// An access to an address that is not mapped, or not that way.
    pub const MEMORY_FAULT: Self = Self(0);
    /// The device hung or was reset.
    pub const HARDWARE_EXCEPTION: Self = Self(1);
    /// A correctable or uncorrectable memory error.
    pub const MEMORY_ERROR: Self = Self(2);
    /// The device is gone.
    pub const LOST: Self = Self(3);
}

flag_word! {
    /// Why an access failed, with HSA's bits (`hsa_amd_memory_fault_reason_t`).
    pub struct FaultFlags: u32 {
        /// No page at the address.
        const PAGE_NOT_PRESENT = 1;
        /// A write to memory that is read only.
        const READ_ONLY = 1 << 1;
        /// Execution of memory that is not executable.
        const NO_EXECUTE = 1 << 2;
        /// Memory that only the host may use.
        const HOST_ONLY = 1 << 3;
        /// An error in local memory.
        const DRAM_ECC = 1 << 4;
        /// The address is only a guess.
        const IMPRECISE = 1 << 5;
        /// An error in registers or caches.
        const SRAM_ECC = 1 << 6;
        /// The device hung.
        const HANG = 1 << 31;
    }
}

/// A report of a device.
#[repr(C)]
#[derive(Clone, Debug, StableAbi)]
pub struct DeviceEvent {
    /// What happened.
    pub kind: DeviceEventKind,
    /// The driver's node.
    pub node: u32,
    /// The queue it happened on, or 0.
    pub queue: u64,
    /// The address, for memory faults.
    pub address: u64,
    /// Why.
    pub flags: FaultFlags,
    /// Zero.
    pub reserved: u32,
    /// One sentence for people: kernel, pc, instruction.
    pub message: RString,
}
