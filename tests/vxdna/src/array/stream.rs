//! Streams: which channel's words go where, by the configuration of the switches.
//!
//! A switch has slave ports, where words come in, and master ports, where they leave; each master names a slave. Words that
//! leave a tile at a master port come in at the neighbour's slave port across, of the same number. Ports are traced from each
//! channel that takes words back to the one that gives them. Packets are not modelled.

use super::mover::{names, Direction, Name};
use super::tile::{Kind, Tile};
use super::{Array, Place};
use std::collections::BTreeMap;

const ENABLED: u32 = 1 << 31;
const PACKET: u32 = 1 << 30;
/// Slave that a master names.
const SLAVE: u32 = 0x7f;
/// Most ports on the way of a stream.
const MOST_HOPS: usize = 256;

/// What is at the other side of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Mover(u32),
    North(u32),
    South(u32),
    East(u32),
    West(u32),
    /// The core, control packets, a queue of words, or the trace unit.
    Other,
}

/// Ports of a switch: first number of each side, in order of the numbers.
type Ports = &'static [(u32, fn(u32) -> Side)];

const fn other(_: u32) -> Side {
    Side::Other
}

const MASTERS: fn(Kind) -> Ports = |kind| match kind {
    Kind::Shim => &[
        (0, other),
        (2, Side::South),
        (8, Side::West),
        (12, Side::North),
        (18, Side::East),
    ],
    Kind::Memory => &[(0, Side::Mover), (6, other), (7, Side::South), (11, Side::North)],
    Kind::Core => &[
        (0, other),
        (1, Side::Mover),
        (3, other),
        (5, Side::South),
        (9, Side::West),
        (13, Side::North),
        (19, Side::East),
    ],
};

const SLAVES: fn(Kind) -> Ports = |kind| match kind {
    Kind::Shim => &[
        (0, other),
        (2, Side::South),
        (10, Side::West),
        (14, Side::North),
        (18, Side::East),
        (22, other),
    ],
    Kind::Memory => &[
        (0, Side::Mover),
        (6, other),
        (7, Side::South),
        (13, Side::North),
        (17, other),
    ],
    Kind::Core => &[
        (0, other),
        (1, Side::Mover),
        (3, other),
        (5, Side::South),
        (11, Side::West),
        (15, Side::North),
        (19, Side::East),
        (23, other),
    ],
};

fn side(ports: Ports, number: u32) -> Side {
    let (first, make) = ports
        .iter()
        .rev()
        .find(|(first, _)| *first <= number)
        .copied()
        .unwrap_or((0, other));
    make(number - first)
}

fn number(ports: Ports, wanted: Side, count: u32) -> Option<u32> {
    (0..count).find(|&port| side(ports, port) == wanted)
}

/// Between the stream switch of a shim tile and its movers there is a multiplexer: a field of two bits for each port, 1 for
/// the mover.
fn shim_port(direction: Direction, channel: u32) -> (u32, u32, u32) {
    match (direction, channel) {
        // Register, lowest bit, port to the south.
        (Direction::FromMemory, 0) => (0x1_f000, 10, 3),
        (Direction::FromMemory, _) => (0x1_f000, 14, 7),
        (Direction::ToMemory, 0) => (0x1_f004, 4, 2),
        (Direction::ToMemory, _) => (0x1_f004, 6, 3),
    }
}

fn is_connected(tile: &Tile, direction: Direction, channel: u32) -> bool {
    let (register, low, _) = shim_port(direction, channel);
    tile.register(register) >> low & 3 == 1
}

impl Array {
    /// The channels that each channel gives its words to.
    pub(crate) fn routes(&self) -> Result<BTreeMap<Name, Vec<Name>>, String> {
        let mut routes: BTreeMap<Name, Vec<Name>> = BTreeMap::new();
        for (&place, tile) in &self.tiles {
            for sink in names(place, tile.kind).filter(|name| name.direction == Direction::ToMemory) {
                if let Some(source) = self.source_of(sink)? {
                    routes.entry(source).or_default().push(sink);
                }
            }
        }
        Ok(routes)
    }

    /// The channel whose words reach a channel.
    fn source_of(&self, sink: Name) -> Result<Option<Name>, String> {
        let mut place = sink.place;
        let tile = self.tile(place)?;
        let mut port = if tile.kind == Kind::Shim {
            if !is_connected(tile, Direction::ToMemory, sink.channel) {
                return Ok(None);
            }
            Side::South(shim_port(Direction::ToMemory, sink.channel).2)
        } else {
            Side::Mover(sink.channel)
        };
        for _ in 0..MOST_HOPS {
            let Ok(tile) = self.tile(place) else {
                return Ok(None);
            };
            let Some(slave) = self.slave_behind(place, tile, port)? else {
                return Ok(None);
            };
            let (column, row) = place;
            let found = |channel| {
                Ok(Some(Name {
                    place,
                    direction: Direction::FromMemory,
                    channel,
                }))
            };
            let west = || column.checked_sub(1).map(|column| (column, row));
            let below = || row.checked_sub(1).map(|row| (column, row));
            let across = match slave {
                Side::Mover(channel) => return found(channel),
                Side::South(south) if tile.kind == Kind::Shim => {
                    let channel = (0..2).find(|&channel| {
                        shim_port(Direction::FromMemory, channel).2 == south
                            && is_connected(tile, Direction::FromMemory, channel)
                    });
                    return channel.map_or(Ok(None), found);
                }
                Side::North(k) => Some(((column, row + 1), Side::South(k))),
                Side::South(k) => below().map(|place| (place, Side::North(k))),
                Side::East(k) => Some(((column + 1, row), Side::West(k))),
                Side::West(k) => west().map(|place| (place, Side::East(k))),
                Side::Other => None,
            };
            match across {
                Some((next, master)) => (place, port) = (next, master),
                None => return Ok(None),
            }
        }
        Err(format!("the stream to {sink} goes round in a circle"))
    }

    /// What comes in at the slave that a master port names.
    fn slave_behind(&self, place: Place, tile: &Tile, master: Side) -> Result<Option<Side>, String> {
        let layout = tile.kind.layout();
        let [masters, slaves] = layout.ports;
        let Some(port) = number(MASTERS(tile.kind), master, layout.port_counts[0]) else {
            return Ok(None);
        };
        let config = tile.register(masters + 4 * port);
        if config & ENABLED == 0 {
            return Ok(None);
        }
        let slave = config & SLAVE;
        let behind = tile.register(slaves + 4 * slave);
        if (config | behind) & PACKET != 0 {
            let (column, row) = place;
            return Err(format!(
                "a port of column {column}, row {row} switches packets, which are not modelled"
            ));
        }
        if slave >= layout.port_counts[1] || behind & ENABLED == 0 {
            return Ok(None);
        }
        Ok(Some(side(SLAVES(tile.kind), slave)))
    }
}
