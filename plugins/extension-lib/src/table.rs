//! Tables of C functions, described for the runtime.

use hansa_plugin_api::{ExtensionTable, RVec, TableSlot};

/// The id of an extension that is known by name only.
pub const NO_ID: u32 = u32::MAX;

/// Describes a table that has no shorter form for older minor versions.
pub fn describe<T: Sync>(
    slot: TableSlot,
    id: u32,
    name: &str,
    (major, minor): (u16, u16),
    table: &'static T,
) -> ExtensionTable {
    ExtensionTable {
        slot,
        id,
        name: name.into(),
        major,
        minor,
        bytes: bytes::<T>(),
        table: (&raw const *table).cast(),
        bytes_at_minor: RVec::new(),
    }
}

/// The size of a table.
#[expect(clippy::cast_possible_truncation, reason = "a table has a few hundred bytes")]
pub const fn bytes<T>() -> u32 {
    size_of::<T>() as u32
}
