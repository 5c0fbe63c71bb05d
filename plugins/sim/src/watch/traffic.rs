//! Which memory an instruction moves bytes of, and how many.

use crate::isa::{Family, Inst};

/// Which memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Memory {
    /// Memory behind addresses, descriptors and the scalar cache.
    Device,
    /// Memory of the work-group.
    Group,
}

/// Bytes of one execution: of each active lane, or of the wave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Traffic {
    pub(super) memory: Memory,
    pub(super) per_lane: bool,
    pub(super) read: u64,
    pub(super) written: u64,
}

/// What an instruction moves, if it moves something.
pub(super) fn of(inst: &Inst) -> Option<Traffic> {
    let name = inst.row.name;
    let (memory, per_lane) = match inst.row.family {
        Family::Smem => (Memory::Device, false),
        Family::Ds => (Memory::Group, true),
        Family::Mubuf | Family::Mtbuf | Family::Flat | Family::Global | Family::Scratch | Family::Mimg => {
            (Memory::Device, true)
        }
        _ => return None,
    };
    let bytes = match inst.row.family {
        Family::Mimg => 4 * u64::from(inst.image_data_dwords()),
        Family::Ds => group_bytes(name)?,
        _ => device_bytes(name)?,
    };
    let has = |part: &str| name.contains(part);
    let (read, written) = if has("load") || has("read") || has("sample") || has("gather") {
        (bytes, 0)
    } else if has("store") || has("write") {
        (0, bytes)
    } else {
        // An atomic operation does both.
        (bytes, bytes)
    };
    Some(Traffic {
        memory,
        per_lane,
        read,
        written,
    })
}

/// Bytes that a mnemonic of device memory moves.
fn device_bytes(name: &str) -> Option<u64> {
    if name.contains("atomic") {
        let wide = name.ends_with("_x2") || name.ends_with("f64");
        return Some(if wide { 8 } else { 4 });
    }
    if !name.contains("load") && !name.contains("store") {
        return None;
    }
    if let Some((_, format)) = name.rsplit_once("format_") {
        // `xyzw` or a part of it, after what says that components have 16 bits.
        let components = format.rsplit('_').next().map_or(0, str::len) as u64;
        return Some(components * if format.contains("d16") { 2 } else { 4 });
    }
    let (_, size) = name.rsplit_once("dword").unwrap_or(("", name));
    match size {
        "" => Some(4),
        "x2" => Some(8),
        "x3" => Some(12),
        "x4" => Some(16),
        "x8" => Some(32),
        "x16" => Some(64),
        _ if name.contains("byte") => Some(1),
        _ if name.contains("short") => Some(2),
        _ => None,
    }
}

/// Bytes that a mnemonic of group memory moves.
fn group_bytes(name: &str) -> Option<u64> {
    if name.contains("permute") || name.contains("swizzle") || name.contains("gws") || name == "ds_nop" {
        return None;
    }
    let plain = name.trim_end_matches("_hi").trim_end_matches("_d16");
    let size = plain
        .split('_')
        .filter_map(|part| part.strip_prefix(['b', 'u', 'i', 'f']))
        .find_map(|bits| bits.parse::<u64>().ok())?;
    let pair = name.contains("read2") || name.contains("write2") || name.contains("wrxchg2");
    Some(size / 8 * if pair { 2 } else { 1 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::{rows, Family};

    #[test]
    fn sizes_follow_from_names() {
        for (name, bytes) in [
            ("global_load_dword", 4),
            ("global_load_dwordx3", 12),
            ("flat_store_dwordx4", 16),
            ("buffer_load_ubyte", 1),
            ("global_load_short_d16_hi", 2),
            ("buffer_store_format_xyz", 12),
            ("tbuffer_load_format_d16_xy", 4),
            ("buffer_load_format_d16_hi_x", 2),
            ("global_atomic_add_x2", 8),
            ("s_load_dwordx16", 64),
        ] {
            assert_eq!(device_bytes(name), Some(bytes), "{name}");
        }
        for (name, bytes) in [
            ("ds_read_b32", 4),
            ("ds_read2st64_b64", 16),
            ("ds_write_b96", 12),
            ("ds_add_rtn_u32", 4),
            ("ds_read_u8_d16", 1),
            ("ds_write_b16_d16_hi", 2),
        ] {
            assert_eq!(group_bytes(name), Some(bytes), "{name}");
        }
        assert_eq!(group_bytes("ds_bpermute_b32"), None);
    }

    #[test]
    fn every_load_and_store_moves_something() {
        for row in rows().filter(|row| {
            matches!(
                row.family,
                Family::Flat
                    | Family::Global
                    | Family::Scratch
                    | Family::Mubuf
                    | Family::Mtbuf
                    | Family::Smem
            )
        }) {
            let moves = ["load", "store", "atomic"]
                .iter()
                .any(|part| row.name.contains(part));
            assert_eq!(device_bytes(row.name).is_some(), moves, "{}", row.name);
        }
    }
}
