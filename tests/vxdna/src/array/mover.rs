//! Data movers: channels that follow descriptors.
//!
//! A channel has a queue of tasks: a descriptor to start with, how often, and whether its end is told by a token. It
//! acquires the descriptor's lock, moves the words, releases, and goes on with the next descriptor if there is one.

use super::descriptor::{Base, Descriptor, LockUse};
use super::tile::Kind;
use super::{Array, Host, Place};
use std::collections::{BTreeMap, VecDeque};
use std::fmt;

/// Most tasks in the queue of a channel.
const QUEUE_TASKS: usize = 4;
/// Words that are under way between two channels at most.
const STREAM_WORDS: usize = 256;
/// Bytes of a descriptor.
const DESCRIPTOR_BYTES: u32 = 0x20;

/// Which way a channel moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Direction {
    /// From a stream to memory (S2MM).
    ToMemory,
    /// From memory to a stream (MM2S).
    FromMemory,
}

impl Direction {
    pub(crate) const BOTH: [Self; 2] = [Self::ToMemory, Self::FromMemory];
}

/// A channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Name {
    pub(crate) place: Place,
    pub(crate) direction: Direction,
    pub(crate) channel: u32,
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.direction {
            Direction::ToMemory => "S2MM",
            Direction::FromMemory => "MM2S",
        };
        let (column, row) = self.place;
        write!(f, "{kind}{} of column {column}, row {row}", self.channel)
    }
}

/// Column, row, direction, channel.
pub(crate) type Token = Name;

/// All channels of a tile.
pub(crate) fn names(place: Place, kind: Kind) -> impl Iterator<Item = Name> {
    let channels = kind.layout().channels;
    Direction::BOTH.into_iter().flat_map(move |direction| {
        (0..channels).map(move |channel| Name {
            place,
            direction,
            channel,
        })
    })
}

#[derive(Clone, Copy, Debug)]
struct Task {
    start: u32,
    /// How often it is to be done still.
    left: u32,
    token: bool,
}

#[derive(Debug)]
struct Moving {
    descriptor: Descriptor,
    /// Words that were read and not given, or taken and not written.
    words: VecDeque<u32>,
}

/// A channel's state.
#[derive(Debug, Default)]
pub(crate) struct Channel {
    queue: VecDeque<Task>,
    task: Option<Task>,
    /// The descriptor that is next, or under way.
    at: u32,
    moving: Option<Moving>,
    /// Words on their way to it.
    stream: VecDeque<u32>,
}

impl Channel {
    /// A word was written to the queue.
    pub(crate) fn push(&mut self, name: Name, word: u32) -> Result<(), String> {
        if self.queue.len() >= QUEUE_TASKS {
            return Err(format!("the queue of {name} overflows"));
        }
        self.queue.push_back(Task {
            start: word & 0xf | if name.place.1 == 1 { word & 0x30 } else { 0 },
            left: (word >> 16 & 0xff) + 1,
            token: word >> 31 != 0,
        });
        Ok(())
    }

    fn is_busy(&self) -> bool {
        self.task.is_some() || !self.queue.is_empty()
    }

    /// The status register: running, and tasks in the queue.
    pub(crate) fn status(&self) -> u32 {
        let tasks = u32::try_from(self.queue.len()).unwrap_or(u32::MAX);
        u32::from(self.task.is_some()) << 19 | (tasks & 7) << 20 | (self.at & 0xf) << 24
    }
}

impl Array {
    /// Moves what can be moved, until nothing can.
    pub(crate) fn settle(&mut self, host: &dyn Host) -> Result<(), String> {
        let routes = self.routes()?;
        loop {
            let mut moved = false;
            let busy: Vec<Name> = self
                .channels
                .iter()
                .filter(|(_, channel)| channel.is_busy())
                .map(|(name, _)| *name)
                .collect();
            for name in busy {
                moved |= self
                    .step(name, &routes, host)
                    .map_err(|reason| format!("{name}: {reason}"))?;
            }
            if !moved {
                return Ok(());
            }
        }
    }

    /// The channels that are not done with something.
    pub(crate) fn busy(&self) -> String {
        let busy = self.channels.iter().filter(|(_, channel)| channel.is_busy());
        let names: Vec<String> = busy.map(|(name, _)| name.to_string()).collect();
        names.join(", ")
    }

    fn channel(&mut self, name: Name) -> Result<&mut Channel, String> {
        self.channels
            .get_mut(&name)
            .ok_or_else(|| format!("there is no {name}"))
    }

    /// Goes on with a channel. Answers whether anything came of it.
    fn step(
        &mut self,
        name: Name,
        routes: &BTreeMap<Name, Vec<Name>>,
        host: &dyn Host,
    ) -> Result<bool, String> {
        let channel = self.channel(name)?;
        if channel.task.is_none() {
            let Some(task) = channel.queue.pop_front() else {
                return Ok(false);
            };
            channel.at = task.start;
            channel.task = Some(task);
        }
        let began = channel.moving.is_none();
        if began && !self.begin(name, host)? {
            return Ok(false);
        }
        let moved = match name.direction {
            Direction::FromMemory => self.give(name, routes.get(&name).map_or(&[], Vec::as_slice))?,
            Direction::ToMemory => self.take(name)?,
        };
        let channel = self.channel(name)?;
        let is_over = channel
            .moving
            .as_ref()
            .is_some_and(|moving| match name.direction {
                Direction::FromMemory => moving.words.is_empty(),
                Direction::ToMemory => moving.words.len() as u64 == moving.descriptor.length,
            });
        if is_over {
            self.end(name, host)?;
        }
        Ok(began || moved || is_over)
    }

    /// Begins a descriptor, if its lock lets it.
    fn begin(&mut self, name: Name, host: &dyn Host) -> Result<bool, String> {
        let number = self.channel(name)?.at;
        let tile = self.tile(name.place)?;
        let (first, count, words) = tile.kind.layout().descriptors;
        if number >= count {
            return Err(format!("there is no descriptor {number}"));
        }
        let at = first + DESCRIPTOR_BYTES * number;
        let words: Vec<u32> = (0..words).map(|word| tile.register(at + 4 * word)).collect();
        let descriptor = Descriptor::parse(tile.kind, &words)
            .map_err(|reason| format!("descriptor {number}: {reason}"))?;
        if let Some(used) = descriptor.acquire {
            let lock = self.lock(name.place, used)?;
            // Below 0: at least so much. Above: exactly so much.
            let met = if used.value < 0 {
                *lock >= -used.value
            } else {
                *lock == used.value
            };
            if !met {
                return Ok(false);
            }
            *lock -= used.value.abs();
        }
        let words = match name.direction {
            Direction::FromMemory => self.load(name.place, &descriptor, host)?,
            Direction::ToMemory => VecDeque::new(),
        };
        self.channel(name)?.moving = Some(Moving { descriptor, words });
        Ok(true)
    }

    fn lock(&mut self, (column, row): Place, used: LockUse) -> Result<&mut i32, String> {
        let column = column
            .checked_add_signed(used.east)
            .ok_or("a lock of a tile that there is not")?;
        let tile = self.tile_mut((column, row))?;
        tile.locks
            .get_mut(used.lock as usize)
            .ok_or_else(|| format!("there is no lock {}", used.lock))
    }

    /// Reads the words of a descriptor.
    fn load(&self, place: Place, descriptor: &Descriptor, host: &dyn Host) -> Result<VecDeque<u32>, String> {
        match descriptor.base {
            Base::Host(base) => {
                let mut words = VecDeque::new();
                for (start, count) in runs(descriptor.offsets()) {
                    let mut bytes = vec![0; count * 4];
                    host.read(base + start * 4, &mut bytes)?;
                    words.extend(crate::memory::words_of(&bytes));
                }
                Ok(words)
            }
            Base::Tile(east, base) => {
                let tile = self.tile(neighbour(place, east)?)?;
                descriptor
                    .offsets()
                    .map(|offset| {
                        tile.words(base + offset)
                            .ok_or_else(|| format!("word {} is beyond the tile's memory", base + offset))
                    })
                    .collect()
            }
        }
    }

    /// Writes the words of a descriptor.
    fn store(
        &mut self,
        place: Place,
        descriptor: &Descriptor,
        words: &VecDeque<u32>,
        host: &dyn Host,
    ) -> Result<(), String> {
        match descriptor.base {
            Base::Host(base) => {
                let mut from = words.iter();
                for (start, count) in runs(descriptor.offsets()) {
                    let part: Vec<u32> = from.by_ref().take(count).copied().collect();
                    host.write(base + start * 4, &crate::memory::bytes_of(&part))?;
                }
                Ok(())
            }
            Base::Tile(east, base) => {
                let tile = self.tile_mut(neighbour(place, east)?)?;
                for (offset, word) in descriptor.offsets().zip(words) {
                    *tile
                        .word_mut(base + offset)
                        .ok_or_else(|| format!("word {} is beyond the tile's memory", base + offset))? =
                        *word;
                }
                Ok(())
            }
        }
    }

    /// Gives words to the streams, as many as all of them have room for.
    fn give(&mut self, name: Name, sinks: &[Name]) -> Result<bool, String> {
        let room = sinks
            .iter()
            .map(|sink| STREAM_WORDS - self.channels[sink].stream.len())
            .min()
            .unwrap_or(0);
        let Some(moving) = &mut self.channel(name)?.moving else {
            return Ok(false);
        };
        let count = room.min(moving.words.len());
        let words: Vec<u32> = moving.words.drain(..count).collect();
        for &sink in sinks {
            self.channel(sink)?.stream.extend(&words);
        }
        Ok(count != 0)
    }

    /// Takes words from the stream.
    fn take(&mut self, name: Name) -> Result<bool, String> {
        let channel = self.channel(name)?;
        let Some(moving) = &mut channel.moving else {
            return Ok(false);
        };
        let wanted = moving.descriptor.length - moving.words.len() as u64;
        let count = channel
            .stream
            .len()
            .min(usize::try_from(wanted).unwrap_or(usize::MAX));
        moving.words.extend(channel.stream.drain(..count));
        Ok(count != 0)
    }

    /// Ends a descriptor.
    fn end(&mut self, name: Name, host: &dyn Host) -> Result<(), String> {
        let channel = self.channel(name)?;
        let number = channel.at;
        let Some(Moving { descriptor, words }) = channel.moving.take() else {
            return Ok(());
        };
        if name.direction == Direction::ToMemory {
            self.store(name.place, &descriptor, &words, host)?;
        }
        if let Some(used) = descriptor.release {
            *self.lock(name.place, used)? += used.value;
        }
        self.count_iteration(name.place, number, &descriptor)?;
        let channel = self.channel(name)?;
        if let Some(next) = descriptor.next {
            channel.at = next;
            return Ok(());
        }
        let Some(task) = &mut channel.task else {
            return Ok(());
        };
        task.left -= 1;
        if task.left != 0 {
            channel.at = task.start;
            return Ok(());
        }
        if task.token {
            *self.tokens.entry(name).or_default() += 1;
        }
        self.channel(name)?.task = None;
        Ok(())
    }

    /// Counts the iteration of a descriptor, in its register.
    fn count_iteration(&mut self, place: Place, number: u32, descriptor: &Descriptor) -> Result<(), String> {
        let (_, wrap, current) = descriptor.iteration;
        if wrap <= 1 {
            return Ok(());
        }
        let next = u32::try_from((current + 1) % wrap).unwrap_or(0);
        let tile = self.tile_mut(place)?;
        let (word, low) = match tile.kind {
            Kind::Shim => (6, 26),
            Kind::Memory => (6, 23),
            Kind::Core => (4, 19),
        };
        let at = tile.kind.layout().descriptors.0 + DESCRIPTOR_BYTES * number + 4 * word;
        let value = tile.register(at) & !(0x3f << low) | next << low;
        tile.write(at, value)
    }
}

fn neighbour((column, row): Place, east: i32) -> Result<Place, String> {
    let column = column.checked_add_signed(east);
    Ok((column.ok_or("memory of a tile that there is not")?, row))
}

/// Runs of offsets that follow one another: start and length.
fn runs(offsets: impl Iterator<Item = u64>) -> Vec<(u64, usize)> {
    let mut runs: Vec<(u64, usize)> = Vec::new();
    for offset in offsets {
        match runs.last_mut() {
            Some((start, count)) if *start + *count as u64 == offset => *count += 1,
            _ => runs.push((offset, 1)),
        }
    }
    runs
}
