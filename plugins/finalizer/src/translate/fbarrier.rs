//! Fine-grain barriers (PRM 9.2), which the hardware has none of: a word of 64 bits in the group segment for each, changed
//! by one lane of a wavefront, the others waiting for it. Bits 15:0 count members, 31:16 those that arrived, in wavefronts;
//! the rest counts how often all had arrived.

use super::builder::{Pointer, Value};
use super::error::{invalid, Reason};
use super::function::Function;
use super::globals::space;
use super::ty::Ty;
use crate::brig::{CodeOffset, Directive, Instruction, Linkage, Opcode, Operand, Type};
use crate::program::Symbol;

/// Translates an operation on an fbarrier.
pub(super) fn translate<'a>(f: &mut Function<'a>, i: &Instruction<'a>) -> Result<(), Reason> {
    if i.opcode == Opcode::LDF {
        let state = state(f, i.operand(1))?;
        let address = f.b.value(Ty::I32, format_args!("ptrtoint {state} to i32"));
        return f.write(i, Type::U32, &address);
    }
    let state = state(f, i.operand(0))?;
    let helper = match i.opcode {
        Opcode::INITFBAR => {
            f.b.line(format_args!(
                "store atomic i64 0, {state} syncscope(\"workgroup\") monotonic, align 8"
            ));
            return Ok(());
        }
        // Nothing is held for it.
        Opcode::RELEASEFBAR => return Ok(()),
        Opcode::JOINFBAR => "hansa.fbarrier.join",
        Opcode::LEAVEFBAR => "hansa.fbarrier.leave",
        Opcode::ARRIVEFBAR => "hansa.fbarrier.arrive",
        _ => "hansa.fbarrier.wait",
    };
    f.b.helpers.insert(helper);
    f.b.line(format_args!("call void @{helper}({state})"));
    Ok(())
}

/// The word of an fbarrier that is named or whose address is in a register.
fn state<'a>(f: &mut Function<'a>, operand: Option<Operand<'a>>) -> Result<Pointer, Reason> {
    match operand {
        Some(Operand::CodeRef(at)) => named(f, at),
        Some(register @ Operand::Register(_)) => {
            let address: Value = f.read(register, Type::U32)?;
            Ok(f.b.pointer(
                space::GROUP,
                format_args!("inttoptr i32 {address} to ptr addrspace(3)"),
            ))
        }
        _ => invalid("it names no fbarrier"),
    }
}

fn named(f: &mut Function<'_>, at: CodeOffset) -> Result<Pointer, Reason> {
    let Some(Directive::Fbarrier(fbarrier)) = f.module.directive(at) else {
        return invalid("it names no fbarrier");
    };
    let here = Symbol { module: f.index, at };
    if fbarrier.is_definition || fbarrier.linkage != Linkage::PROGRAM {
        return Ok(f.globals.fbarrier(here));
    }
    let definition = f
        .unit
        .linked
        .modules()
        .iter()
        .enumerate()
        .find_map(|(module, brig)| {
            brig.top().find_map(|entry| match entry {
                crate::brig::Entry::Directive(Directive::Fbarrier(other))
                    if other.is_definition
                        && other.linkage == Linkage::PROGRAM
                        && other.name == fbarrier.name =>
                {
                    Some(Symbol { module, at: other.at })
                }
                _ => None,
            })
        });
    match definition {
        Some(definition) => Ok(f.globals.fbarrier(definition)),
        None => invalid(format!("no module of the program defines {}", fbarrier.name)),
    }
}
