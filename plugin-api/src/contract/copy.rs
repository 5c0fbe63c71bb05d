//! Copies: a native one, or the description of an engine that the runtime feeds.

use super::description::flag_word;
use abi_stable::StableAbi;

flag_word! {
    /// How a copy is to be done.
    pub struct CopyFlags: u32 {
        /// `source` is a 32-bit value to fill with, not an address.
        const FILL = 1;
        /// Use `engine`, and no other.
        const ENGINE_ONLY = 1 << 1;
    }
}

/// A copy of rows of bytes; a plain copy has one row and one slice.
#[repr(C)]
#[derive(Clone, Copy, Debug, StableAbi)]
pub struct CopyRequest {
    /// The node that copies.
    pub node: u32,
    /// How.
    pub flags: CopyFlags,
    /// First byte written.
    pub destination: u64,
    /// First byte read.
    pub source: u64,
    /// Bytes of a row.
    pub row_bytes: u64,
    /// Rows of a slice.
    pub rows: u64,
    /// Slices.
    pub slices: u64,
    /// Bytes from row to row where it is written.
    pub destination_row_pitch: u64,
    /// Bytes from slice to slice where it is written.
    pub destination_slice_pitch: u64,
    /// Bytes from row to row where it is read.
    pub source_row_pitch: u64,
    /// Bytes from slice to slice where it is read.
    pub source_slice_pitch: u64,
    /// Copy engine to use, or `u32::MAX` for any.
    pub engine: u32,
    /// Zero.
    pub reserved: u32,
}

impl CopyRequest {
    /// A plain copy of `bytes` bytes by a node.
    #[must_use]
    pub const fn linear(node: u32, destination: u64, source: u64, bytes: u64) -> Self {
        Self {
            node,
            flags: CopyFlags(0),
            destination,
            source,
            row_bytes: bytes,
            rows: 1,
            slices: 1,
            destination_row_pitch: bytes,
            destination_slice_pitch: bytes,
            source_row_pitch: bytes,
            source_slice_pitch: bytes,
            engine: u32::MAX,
            reserved: 0,
        }
    }
}

/// The packet language of copy engines.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, StableAbi)]
pub struct EngineFamily(pub u32);

impl EngineFamily {
    /// SDMA 2 and 3 (gfx7, gfx8).
    pub const SDMA_3: Self = Self(3);
    /// SDMA 4 (gfx9).
    pub const SDMA_4: Self = Self(4);
    /// SDMA 5 (gfx10).
    pub const SDMA_5: Self = Self(5);
    /// SDMA 6 (gfx11).
    pub const SDMA_6: Self = Self(6);
    /// SDMA 7 (gfx12).
    pub const SDMA_7: Self = Self(7);
}

/// A copy engine that is fed through queues of kind [`QueueKind::DMA`](crate::QueueKind::DMA).
#[repr(C)]
#[derive(Clone, Copy, Debug, StableAbi)]
pub struct EngineDescription {
    /// Its packet language.
    pub family: EngineFamily,
    /// 1 when it can raise events.
    pub raises_events: u32,
    /// Most bytes of one copy packet.
    pub max_copy_bytes: u64,
    /// Engines for the host.
    pub host_engines: u32,
    /// Engines on links.
    pub link_engines: u32,
}
