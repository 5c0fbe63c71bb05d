//! Clocks, samples and counters.

use abi_stable::StableAbi;

/// The clocks of a node and of the system, read together.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, StableAbi)]
pub struct ClockCounters {
    /// The device's clock, in ticks of `NodeDescription::timestamp_hz`.
    pub device: u64,
    /// The host's monotonic clock, in nanoseconds.
    pub host: u64,
    /// The system's clock (HSA timestamps), in ticks.
    pub system: u64,
    /// Ticks per second of `system`.
    pub system_hz: u64,
}

/// How a device can sample program counters.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, StableAbi)]
pub struct PcSamplingConfig {
    /// Method, with HSA's numbers.
    pub method: u32,
    /// Unit of the interval, with HSA's numbers.
    pub unit: u32,
    /// Shortest interval.
    pub min_interval: u64,
    /// Longest interval.
    pub max_interval: u64,
    /// Flags, with HSA's numbers.
    pub flags: u64,
}

/// A buffer for streaming counters, and what happened to the one before.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, StableAbi)]
pub struct SpmBuffer {
    /// Where counters go.
    pub address: u64,
    /// Bytes.
    pub bytes: u64,
    /// Milliseconds to wait for the last buffer; on return what is left.
    pub timeout_ms: u32,
    /// On return: bytes copied into the last buffer.
    pub copied: u32,
    /// On return: 1 when samples were lost.
    pub lost: u32,
    /// Zero.
    pub reserved: u32,
}
