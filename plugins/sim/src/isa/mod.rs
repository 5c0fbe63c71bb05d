//! The instruction set of GFX9 processors: tables, decoder, disassembler.
//!
//! Sources: AMD's "Vega" and "CDNA2" instruction set documents for the fields of each encoding, and
//! LLVM 15's assembler and disassembler for which opcode exists on which processor.

mod inst;
mod target;

pub use inst::*;
pub use target::*;
