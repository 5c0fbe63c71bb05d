//! What is left (PRM 11.4).

use super::builder::Value;
use super::error::{unsupported, Reason};
use super::function::Function;
use super::lanes;
use super::ty::Ty;
use crate::brig::{Instruction, Opcode, Type};

/// `hwreg` of GFX9's `HW_ID` (Vega ISA, table 5): wave 3:0, SIMD 5:4, compute unit 11:8, array 12, engine 14:13.
const HW_ID: u32 = 4;

/// The operand of `s_getreg`: a register, its first bit, and how many.
const fn field(register: u32, first: u32, bits: u32) -> u32 {
    register | first << 6 | (bits - 1) << 11
}

/// Waves that a SIMD can have at the same time.
const WAVES: u32 = 10;
const SIMDS: u32 = 4;

/// Translates one of these operations.
pub(super) fn translate<'a>(f: &mut Function<'a>, i: &Instruction<'a>) -> Result<(), Reason> {
    let value = match i.opcode {
        Opcode::CLOCK => f.b.call("llvm.amdgcn.s.memrealtime", Ty::I64, &[]),
        Opcode::CUID => hardware(f, field(HW_ID, 8, 7))?,
        // How many there are, no program can see; numbers have seven bits.
        Opcode::MAXCUID => Value::int(Ty::I32, 127),
        Opcode::WAVEID => {
            let wave = hardware(f, field(HW_ID, 0, 4))?;
            let simd = hardware(f, field(HW_ID, 4, 2))?;
            let before = f.b.with_constant("mul", &simd, WAVES);
            f.b.binary("add", &before, &wave)
        }
        Opcode::MAXWAVEID => Value::int(Ty::I32, WAVES * SIMDS - 1),
        Opcode::LANEID => lanes::lanes_below(&mut f.b, &Value::int(Ty::I64, -1)),
        Opcode::GROUPBASEPTR => Value::int(Ty::I32, 0),
        Opcode::KERNARGBASEPTR => f.kernarg_base(),
        _ => return trap(f, i),
    };
    f.write(i, i.ty, &value)
}

fn hardware(f: &mut Function<'_>, field: u32) -> Result<Value, Reason> {
    if !f.unit.is_gfx9() {
        return unsupported("where a wavefront runs is only known on GFX9");
    }
    let field = Value::int(Ty::I32, field);
    Ok(f.b.call("llvm.amdgcn.s.getreg", Ty::I32, &[&field]))
}

/// `debugtrap`: there is no debugger that would see the operand.
fn trap<'a>(f: &mut Function<'a>, i: &Instruction<'a>) -> Result<(), Reason> {
    f.source(i, 0, Type::U32)?;
    let text = f.b.call_text("llvm.trap", "void", std::iter::empty());
    f.b.line(text);
    Ok(())
}
