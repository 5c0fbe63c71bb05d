//! A model of the array: registers, locks and data movers of tiles, and streams between them.
//!
//! Source of the facts: AMD's AM020/AM025 register references for AIE-ML, and the headers of `aie-rt`. Row 0 is the way to the
//! host (shim), row 1 memory, and cores follow. It is functional: data moves as soon as locks and streams let it, and how long
//! anything takes is not modelled. Cores do not run.

mod control;
mod descriptor;
mod image;
mod mover;
mod stream;
mod tile;

use crate::spec::NpuSpec;
use mover::{Channel, Token};
use std::collections::BTreeMap;
use tile::{Kind, Tile};

/// What the array reaches outside of it.
pub(crate) trait Host {
    /// Reads.
    fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), String>;
    /// Writes.
    fn write(&self, address: u64, bytes: &[u8]) -> Result<(), String>;
}

/// Why control code did not come to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// An error.
    Error(String),
    /// Nothing moves any more.
    Blocked {
        /// The operation that waits.
        operation: u32,
        /// For what.
        reason: String,
    },
}

/// Where a tile is: column of the partition, and row.
pub(crate) type Place = (u32, u32);

/// The array of one context.
#[derive(Debug)]
pub(crate) struct Array {
    /// Number of the generation in control code.
    generation: u8,
    columns: u32,
    rows: u32,
    tiles: BTreeMap<Place, Tile>,
    channels: BTreeMap<mover::Name, Channel>,
    tokens: BTreeMap<Token, u32>,
}

impl Array {
    pub(crate) fn new(spec: &NpuSpec, columns: u32) -> Self {
        let mut made = Self {
            generation: if spec.device == 0x1502 { 3 } else { 4 },
            columns,
            rows: spec.array.rows.into(),
            tiles: BTreeMap::new(),
            channels: BTreeMap::new(),
            tokens: BTreeMap::new(),
        };
        made.reset();
        made
    }

    /// Back to where nothing is configured.
    pub(crate) fn reset(&mut self) {
        self.tokens.clear();
        self.tiles.clear();
        self.channels.clear();
        for column in 0..self.columns {
            for row in 0..self.rows {
                let place = (column, row);
                let tile = Tile::new(Kind::of_row(row));
                for name in mover::names(place, tile.kind) {
                    self.channels.insert(name, Channel::default());
                }
                self.tiles.insert(place, tile);
            }
        }
    }

    /// The tile and the place in it that an address names.
    fn split(&self, address: u32) -> Result<(Place, u32), String> {
        let place = (address >> 25, address >> 20 & 0x1f);
        if self.tiles.contains_key(&place) {
            Ok((place, address & 0xf_ffff))
        } else {
            Err(format!(
                "no tile at column {}, row {} ({address:#x})",
                place.0, place.1
            ))
        }
    }

    fn tile(&self, place: Place) -> Result<&Tile, String> {
        self.tiles
            .get(&place)
            .ok_or_else(|| format!("no tile at column {}, row {}", place.0, place.1))
    }

    fn tile_mut(&mut self, place: Place) -> Result<&mut Tile, String> {
        self.tiles
            .get_mut(&place)
            .ok_or_else(|| format!("no tile at column {}, row {}", place.0, place.1))
    }

    /// Writes a register or a word of memory.
    pub(crate) fn write(&mut self, address: u32, value: u32) -> Result<(), String> {
        let (place, at) = self.split(address)?;
        let tile = self.tile_mut(place)?;
        if let Some((direction, channel)) = tile.kind.queue_at(at) {
            let name = mover::Name {
                place,
                direction,
                channel,
            };
            let channel = self.channels.get_mut(&name).ok_or("no such channel")?;
            return channel.push(name, value);
        }
        tile.write(at, value)
            .map_err(|reason| format!("column {}, row {}: {reason}", place.0, place.1))
    }

    /// Reads a register or a word of memory.
    pub(crate) fn read(&self, address: u32) -> Result<u32, String> {
        let (place, at) = self.split(address)?;
        let tile = self.tile(place)?;
        if let Some((direction, channel)) = tile.kind.status_at(at) {
            let name = mover::Name {
                place,
                direction,
                channel,
            };
            return Ok(self.channels.get(&name).map_or(0, Channel::status));
        }
        tile.read(at)
            .map_err(|reason| format!("column {}, row {}: {reason}", place.0, place.1))
    }

    /// Writes some bits.
    pub(crate) fn write_masked(&mut self, address: u32, mask: u32, value: u32) -> Result<(), String> {
        let before = self.read(address)?;
        self.write(address, before & !mask | value & mask)
    }
}
