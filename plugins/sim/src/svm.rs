//! Shared virtual memory: which of the program's own memory devices may use.
//!
//! A device without a page table walker of its own sees what it was told of: the pages whose attributes give it
//! access. Where pages prefer to be, and that they are about to be used, means nothing here: all memory is the host's.

use crate::device::Device;
use crate::exec::Access;
use crate::space::Range;
use hansa_plugin_api::hsa::hsa_amd_svm_attribute_t as Attribute;
use hansa_plugin_api::sync::Mutex;
use hansa_plugin_api::{Error, ErrorCode, SvmAttribute};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What pages allow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Piece {
    end: u64,
    read_only: bool,
    executable: bool,
    /// Devices that may use them.
    nodes: BTreeSet<usize>,
}

impl Piece {
    fn access(&self) -> Access {
        Access {
            read: true,
            write: !self.read_only,
            execute: self.executable,
        }
    }

    fn range(&self, start: u64) -> Range {
        Range {
            start,
            end: self.end,
            access: self.access(),
        }
    }
}

/// A change of pages.
#[derive(Clone, Copy, Debug)]
enum Change {
    ReadOnly(bool),
    Executable(bool),
    Access(usize, bool),
}

/// The pages that somebody spoke of, by the start of each piece.
#[derive(Debug, Default)]
pub(crate) struct Svm(Mutex<BTreeMap<u64, Piece>>);

impl Svm {
    /// Sets attributes of whole pages. The nodes exist.
    pub(crate) fn set(
        &self,
        devices: &[Arc<Device>],
        (start, end): (u64, u64),
        attributes: &[SvmAttribute],
    ) -> Result<(), Error> {
        let mut changes = Vec::new();
        for attribute in attributes {
            changes.extend(changes_of(attribute)?);
        }
        if changes.is_empty() || start == end {
            return Ok(());
        }
        let mut pieces = self.0.lock();
        cut(&mut pieces, start, end);
        for (&at, piece) in pieces.range_mut(start..end) {
            let before = piece.clone();
            for &change in &changes {
                match change {
                    Change::ReadOnly(value) => piece.read_only = value,
                    Change::Executable(value) => piece.executable = value,
                    Change::Access(node, true) => drop(piece.nodes.insert(node)),
                    Change::Access(node, false) => drop(piece.nodes.remove(&node)),
                }
            }
            if *piece == before {
                continue;
            }
            // What stays must not be gone in between: a kernel may be at it.
            for &node in &piece.nodes {
                devices[node].space.map(piece.range(at));
            }
            for &node in &before.nodes {
                devices[node].space.unmap(before.range(at));
                devices[node].memory_changed(at, before.end - at);
            }
        }
        pieces.retain(|_, piece| {
            *piece
                != Piece {
                    end: piece.end,
                    ..Piece::default()
                }
        });
        Ok(())
    }
}

/// What an attribute changes of what devices may do.
fn changes_of(attribute: &SvmAttribute) -> Result<Vec<Change>, Error> {
    let on = attribute.value != 0;
    let number = u32::try_from(attribute.attribute).ok();
    let access = |allowed| {
        let nodes = attribute.nodes.iter();
        Ok(nodes
            .map(|&node| Change::Access(node as usize, allowed))
            .collect())
    };
    match number.map(Attribute) {
        Some(Attribute::READ_ONLY) => Ok(vec![Change::ReadOnly(on)]),
        Some(Attribute::GPU_EXEC) => Ok(vec![Change::Executable(on)]),
        Some(Attribute::AGENT_ACCESSIBLE | Attribute::AGENT_ACCESSIBLE_IN_PLACE) => access(true),
        Some(Attribute::AGENT_NO_ACCESS) => access(false),
        Some(
            Attribute::GLOBAL_FLAG
            | Attribute::HIVE_LOCAL
            | Attribute::MIGRATION_GRANULARITY
            | Attribute::PREFERRED_LOCATION
            | Attribute::PREFETCH_LOCATION
            | Attribute::READ_MOSTLY,
        ) => Ok(Vec::new()),
        _ => {
            let message = format!("{:#x} is no attribute of memory", attribute.attribute);
            Err(Error::new(ErrorCode::INVALID_ARGUMENT, message))
        }
    }
}

/// Makes pieces begin and end with a range, and fills its gaps.
fn cut(pieces: &mut BTreeMap<u64, Piece>, start: u64, end: u64) {
    for at in [start, end] {
        if let Some((_, piece)) = pieces.range_mut(..at).next_back() {
            if piece.end > at {
                let rest = piece.clone();
                piece.end = at;
                pieces.insert(at, rest);
            }
        }
    }
    let mut next = start;
    let mut gaps = Vec::new();
    for (&at, piece) in pieces.range(start..end) {
        if at > next {
            gaps.push((next, at));
        }
        next = piece.end;
    }
    if next < end {
        gaps.push((next, end));
    }
    for (at, end) in gaps {
        let piece = Piece {
            end,
            ..Piece::default()
        };
        pieces.insert(at, piece);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_that_was_cut_has_mappings_in_two() {
        let mut pieces = BTreeMap::new();
        cut(&mut pieces, 10, 20);
        cut(&mut pieces, 15, 30);
        let ranges =
            |pieces: &BTreeMap<u64, Piece>| pieces.iter().map(|(at, p)| (*at, p.end)).collect::<Vec<_>>();
        assert_eq!(ranges(&pieces), [(10, 15), (15, 20), (20, 30)]);
        cut(&mut pieces, 0, 40);
        assert_eq!(ranges(&pieces), [(0, 10), (10, 15), (15, 20), (20, 30), (30, 40)]);
    }

    #[test]
    fn what_is_no_attribute_is_refused() {
        let attribute = |attribute| SvmAttribute {
            attribute,
            value: 1,
            nodes: vec![3].into(),
        };
        assert!(changes_of(&attribute(0x203)).is_err());
        assert!(changes_of(&attribute(1 << 40)).is_err());
        assert_eq!(changes_of(&attribute(4)).unwrap().len(), 0);
        assert!(matches!(
            changes_of(&attribute(0x201)).unwrap()[..],
            [Change::Access(3, true)]
        ));
    }
}
