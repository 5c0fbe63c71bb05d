//! Barriers, and what the lanes of a wavefront tell each other (PRM 9.1, 9.4).

use super::builder::{Builder, Value};
use super::error::{invalid, Reason};
use super::function::Function;
use super::operand::ty_of;
use super::ty::{Scalar, Ty};
use crate::brig::{Instruction, Opcode, Type};

/// `barrier` and `wavebarrier`. The PRM makes them no fences (6.2.8), but programs rely on it.
pub(super) fn barrier<'a>(f: &mut Function<'a>, i: &Instruction<'a>) -> Result<(), Reason> {
    let (scope, name) = match i.opcode {
        Opcode::BARRIER => ("workgroup", "llvm.amdgcn.s.barrier"),
        _ => ("wavefront", "llvm.amdgcn.wave.barrier"),
    };
    f.b.line(format_args!("fence syncscope(\"{scope}\") release"));
    let text = f.b.call_text(name, "void", std::iter::empty());
    f.b.line(text);
    f.b.line(format_args!("fence syncscope(\"{scope}\") acquire"));
    Ok(())
}

/// The lanes for which a condition holds, in 64 bits.
pub(super) fn ballot(f: &mut Function<'_>, condition: &Value) -> Value {
    let bits = f.unit.target.wavefront.min(64);
    let ty = Ty::int(bits);
    let mask = f.b.call(&format!("llvm.amdgcn.ballot.i{bits}"), ty, &[condition]);
    f.b.resize(&mask, Ty::I64, false)
}

/// The number of lanes of a mask below this one.
pub(super) fn lanes_below(b: &mut Builder, mask: &Value) -> Value {
    let low = b.resize(mask, Ty::I32, false);
    let high = b.with_constant("lshr", mask, 32);
    let high = b.resize(&high, Ty::I32, false);
    let zero = Value::int(Ty::I32, 0);
    let count = b.call("llvm.amdgcn.mbcnt.lo", Ty::I32, &[&low, &zero]);
    b.call("llvm.amdgcn.mbcnt.hi", Ty::I32, &[&high, &count])
}

/// The `activelane` operations.
pub(super) fn translate<'a>(f: &mut Function<'a>, i: &Instruction<'a>) -> Result<(), Reason> {
    match i.opcode {
        Opcode::ACTIVELANECOUNT => {
            let condition = f.source(i, 1, Type::B1)?;
            let mask = ballot(f, &condition);
            let count = f.b.overloaded("llvm.ctpop", &[&mask]);
            let count = f.b.resize(&count, Ty::I32, false);
            f.write(i, i.ty, &count)
        }
        Opcode::ACTIVELANEID => {
            let active = ballot(f, &Value::int(Ty::I1, 1));
            let number = lanes_below(&mut f.b, &active);
            f.write(i, i.ty, &number)
        }
        Opcode::ACTIVELANEMASK => {
            let condition = f.source(i, 1, Type::B1)?;
            let mask = ballot(f, &condition);
            let registers = f.registers(i, 0)?;
            if registers.len() != 4 {
                return invalid("its result has four parts");
            }
            let none = Value::int(Ty::I64, 0);
            for (index, register) in registers.into_iter().enumerate() {
                let part = if index == 0 { &mask } else { &none };
                f.write_register(register, i.ty, part)?;
            }
            Ok(())
        }
        _ => permute(f, i),
    }
}

/// `activelanepermute`: a value of another lane, if that is active.
fn permute<'a>(f: &mut Function<'a>, i: &Instruction<'a>) -> Result<(), Reason> {
    let value = f.source_bits(i, 1, i.ty)?;
    let lane = f.source(i, 2, Type::U32)?;
    let identity = f.source_bits(i, 3, i.ty)?;
    let uses_identity = f.source(i, 4, Type::B1)?;
    let wavefront = f.unit.target.wavefront;
    let lane = f.b.with_constant("and", &lane, wavefront - 1);
    let active = ballot(f, &Value::int(Ty::I1, 1));
    let b = &mut f.b;
    let wide = b.resize(&lane, Ty::I64, false);
    let bit = b.binary("lshr", &active, &wide);
    let is_active = b.resize(&bit, Ty::I1, false);
    let address = b.with_constant("shl", &lane, 2);
    let other = moved(b, &value, &address);
    let takes_own = b.with_constant("xor", &uses_identity, 1);
    let takes = b.binary("and", &is_active, &takes_own);
    let result = b.select(&takes, &other, &identity);
    if ty_of(i.ty)?.is_vector() {
        return invalid("its type is packed");
    }
    f.write(i, i.ty, &result)
}

/// A value of another lane, 32 bits at a time.
fn moved(b: &mut Builder, value: &Value, address: &Value) -> Value {
    const MOVE: &str = "llvm.amdgcn.ds.bpermute";
    let ty = value.ty;
    if ty.bits() <= 32 {
        let word = b.resize(value, Ty::I32, false);
        let word = b.call(MOVE, Ty::I32, &[address, &word]);
        return b.resize(&word, ty, false);
    }
    let words = Ty {
        scalar: Scalar::Int(32),
        lanes: ty.bits() / 32,
    };
    let parts = b.bitcast(value, words);
    let parts = b.by_lane(words, |b, lane| {
        let word = b.lane(&parts, lane);
        b.call(MOVE, Ty::I32, &[address, &word])
    });
    b.bitcast(&parts, ty)
}
