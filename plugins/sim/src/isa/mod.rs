//! The instruction set of GFX9 processors: tables, decoder, disassembler.
//!
//! Sources: AMD's "Vega" and "CDNA2" instruction set documents for the fields of each encoding, and
//! LLVM 15's assembler and disassembler for which opcode exists on which processor.

mod decode;
mod disasm;
mod inst;
mod row;
mod table;
mod target;

pub use decode::decode;
pub use disasm::{disassemble, Line};
pub use inst::*;
pub use row::*;
pub use table::{family_rows, row, rows, rows_of};
pub use target::*;
