//! Control code: the stream of operations that a command's instructions are.
//!
//! A header of four words (version, generation, shape, number of operations, bytes), then operations, in one of two encodings:
//! version 0.1 as compilers emit it, and 1.0 with the unused words left out.

use super::mover::{Direction, Name};
use super::{Array, Host, Stop};

const HEADER_WORDS: usize = 4;

/// Numbers of operations.
mod op {
    pub(super) const WRITE: u32 = 0;
    pub(super) const BLOCK_WRITE: u32 = 1;
    pub(super) const MASK_WRITE: u32 = 3;
    pub(super) const MASK_POLL: u32 = 4;
    pub(super) const NOOP: u32 = 5;
    pub(super) const WAIT_FOR_TOKEN: u32 = 128;
    pub(super) const PATCH_ADDRESS: u32 = 129;
}

/// One operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation<'a> {
    Write { at: u32, value: u32 },
    Block { at: u32, values: &'a [u32] },
    MaskWrite { at: u32, value: u32, mask: u32 },
    MaskPoll { at: u32, value: u32, mask: u32 },
    Noop,
    Wait { place: u32, shape: u32 },
    Patch { at: u32, argument: u32, plus: u64 },
}

/// Where words of an operation are, in one encoding.
struct Encoding {
    /// Whether unused words are left out.
    short: bool,
}

impl Encoding {
    /// Reads the operation at the start of some words. Answers it, and how many words it has.
    fn operation<'a>(&self, words: &'a [u32]) -> Result<(Operation<'a>, usize), String> {
        let opcode = words.first().ok_or("the code ends before its last operation")? & 0xff;
        // Words of the operation, and where in them the register, and what is behind it, are.
        let (length, register) = match (opcode, self.short) {
            (op::WRITE, false) => (6, 2),
            (op::MASK_WRITE | op::MASK_POLL, false) => (7, 2),
            (op::WRITE, true) => (3, 1),
            (op::MASK_WRITE | op::MASK_POLL, true) => (4, 1),
            (op::BLOCK_WRITE, false) => (bytes_to_words(words, 3)?, 2),
            (op::BLOCK_WRITE, true) => (bytes_to_words(words, 2)?, 1),
            (op::NOOP, _) => (1, 0),
            (op::WAIT_FOR_TOKEN, _) => (4, 2),
            (op::PATCH_ADDRESS, false) => (12, 6),
            (op::PATCH_ADDRESS, true) => (6, 2),
            _ => return Err(format!("operation {opcode} is not modelled")),
        };
        let w = words.get(..length).ok_or("the code ends inside an operation")?;
        let at = w[register];
        // The long encoding has the high half of a register's address behind the low one.
        let value = register + if self.short { 1 } else { 2 };
        Ok((
            match opcode {
                op::WRITE => Operation::Write { at, value: w[value] },
                op::MASK_WRITE => Operation::MaskWrite {
                    at,
                    value: w[value],
                    mask: w[value + 1],
                },
                op::MASK_POLL => Operation::MaskPoll {
                    at,
                    value: w[value],
                    mask: w[value + 1],
                },
                op::BLOCK_WRITE => Operation::Block {
                    at,
                    values: w.get(register + 2..).ok_or("a block without words")?,
                },
                op::NOOP => Operation::Noop,
                op::WAIT_FOR_TOKEN => Operation::Wait {
                    place: w[2],
                    shape: w[3],
                },
                _ => {
                    let argument = if self.short { 3 } else { 8 };
                    let plus = if self.short { 4 } else { 10 };
                    Operation::Patch {
                        at,
                        argument: w[argument],
                        plus: u64::from(w[plus]) | u64::from(w[plus + 1]) << 32,
                    }
                }
            },
            length,
        ))
    }
}

fn bytes_to_words(words: &[u32], at: usize) -> Result<usize, String> {
    let bytes = *words.get(at).ok_or("the code ends inside an operation")? as usize;
    if !bytes.is_multiple_of(4) || bytes < 4 * (at + 1) {
        return Err(format!("a block of {bytes} bytes"));
    }
    Ok(bytes / 4)
}

impl Array {
    /// Runs control code to its end.
    pub(crate) fn run(&mut self, code: &[u32], arguments: &[u64], host: &dyn Host) -> Result<(), Stop> {
        let (encoding, count) = self.header(code).map_err(Stop::Error)?;
        let mut at = HEADER_WORDS;
        for number in 0..count {
            let (operation, length) = encoding
                .operation(&code[at..])
                .map_err(|reason| Stop::Error(format!("operation {number}: {reason}")))?;
            let met = self
                .perform(operation, arguments, host)
                .map_err(|reason| Stop::Error(format!("operation {number}: {reason}")))?;
            if !met {
                return Err(Stop::Blocked {
                    operation: number,
                    reason: format!("operation {number} waits; busy: {}", self.busy()),
                });
            }
            at += length;
        }
        if at != code.len() {
            return Err(Stop::Error(format!(
                "{} words of code have {at} in operations",
                code.len()
            )));
        }
        self.settle(host).map_err(Stop::Error)
    }

    fn header(&self, code: &[u32]) -> Result<(Encoding, u32), String> {
        let &[shape, _, count, bytes] = code
            .first_chunk::<HEADER_WORDS>()
            .ok_or("code without a header")?;
        let [major, minor, generation, rows] = shape.to_le_bytes();
        let short = match (major, minor) {
            (0, 1) => false,
            (1, 0) => true,
            _ => return Err(format!("code of version {major}.{minor}")),
        };
        if generation != self.generation {
            return Err(format!(
                "code for generation {generation} on a device of {}",
                self.generation
            ));
        }
        if u32::from(rows) != self.rows || bytes as usize != code.len() * 4 {
            return Err(format!(
                "code for {rows} rows of {bytes} bytes, with {}",
                code.len() * 4
            ));
        }
        Ok((Encoding { short }, count))
    }

    /// Does an operation. Answers whether what it waits for has come.
    fn perform(
        &mut self,
        operation: Operation<'_>,
        arguments: &[u64],
        host: &dyn Host,
    ) -> Result<bool, String> {
        match operation {
            Operation::Write { at, value } => self.write(at, value)?,
            Operation::Block { at, values } => {
                for (place, &value) in (at..).step_by(4).zip(values) {
                    self.write(place, value)?;
                }
            }
            Operation::MaskWrite { at, value, mask } => self.write_masked(at, mask, value)?,
            Operation::MaskPoll { at, value, mask } => {
                self.settle(host)?;
                return Ok(self.read(at)? & mask == value);
            }
            Operation::Noop => {}
            Operation::Wait { place, shape } => {
                self.settle(host)?;
                return self.take_tokens(place, shape);
            }
            Operation::Patch { at, argument, plus } => {
                let value = arguments
                    .get(argument as usize)
                    .ok_or_else(|| format!("the command has no argument {argument}"))?;
                self.patch(at, value.wrapping_add(plus))?;
            }
        }
        Ok(true)
    }

    /// Takes a token of each tile of a rectangle.
    fn take_tokens(&mut self, place: u32, shape: u32) -> Result<bool, String> {
        let [direction, row, column, _] = place.to_le_bytes().map(u32::from);
        let [_, rows, columns, channel] = shape.to_le_bytes().map(u32::from);
        let direction = match direction {
            0 => Direction::ToMemory,
            1 => Direction::FromMemory,
            other => return Err(format!("direction {other} of a token")),
        };
        let all: Vec<Name> = (column..column + columns)
            .flat_map(|column| (row..row + rows).map(move |row| (column, row)))
            .map(|place| Name {
                place,
                direction,
                channel,
            })
            .collect();
        if all.is_empty() || all.iter().any(|name| !self.channels.contains_key(name)) {
            return Err("tokens of channels that there are not".into());
        }
        if all
            .iter()
            .any(|name| self.tokens.get(name).is_none_or(|&count| count == 0))
        {
            return Ok(false);
        }
        for name in all {
            *self.tokens.entry(name).or_default() -= 1;
        }
        Ok(true)
    }

    /// Adds an address to the one in a descriptor: 48 bits in two words, of which the second has other things above.
    fn patch(&mut self, at: u32, address: u64) -> Result<(), String> {
        let (low, high) = (self.read(at)?, self.read(at + 4)?);
        let before = u64::from(low & !3) | u64::from(high & 0xffff) << 32;
        let sum = before.wrapping_add(address);
        let [a, b, c, d, e, f, ..] = sum.to_le_bytes();
        self.write(at, u32::from_le_bytes([a, b, c, d]) & !3)?;
        self.write(at + 4, high & 0xffff_0000 | u32::from(u16::from_le_bytes([e, f])))
    }
}
