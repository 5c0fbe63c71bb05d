//! What kernels reach: functions are only made code of when a kernel or an indirect function calls them, and they must
//! be defined then (HSA Runtime PRM, `hsa_ext_program_finalize`).

use super::linked::{Linked, Symbol};
use crate::brig::{CodeOffset, Entry, ExecutableKind, Instruction, Opcode, Operand};
use std::collections::HashSet;

/// Why the calls of a program cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// There is no body to call.
    #[error("Function {name} is called and nowhere defined")]
    Undefined {
        /// The function.
        name: String,
    },
    /// Only functions can be called.
    #[error("A call at {at:#x} of module {module} leads to something that is no function")]
    NotAFunction {
        /// The module of the call.
        module: String,
        /// Where it is in the module's code.
        at: u32,
    },
}

/// The definitions that kernels and indirect functions reach, themselves included.
pub(crate) fn reachable(program: &Linked) -> Result<Vec<Symbol>, CallError> {
    let mut reached: Vec<Symbol> = Vec::new();
    for (index, module) in program.modules().iter().enumerate() {
        let roots = module.executables().filter(|e| {
            let root = matches!(e.kind, ExecutableKind::Kernel | ExecutableKind::IndirectFunction);
            root && e.is_definition
        });
        reached.extend(roots.map(|e| Symbol {
            module: index,
            at: e.at,
        }));
    }
    let mut known: HashSet<Symbol> = reached.iter().copied().collect();
    let mut next = 0;
    while let Some(&symbol) = reached.get(next) {
        next += 1;
        for callee in callees(program, symbol)? {
            if known.insert(callee) {
                reached.push(callee);
            }
        }
    }
    Ok(reached)
}

/// The definitions that a definition calls by name.
fn callees(program: &Linked, caller: Symbol) -> Result<Vec<Symbol>, CallError> {
    let mut found = Vec::new();
    let Some(executable) = program.module(caller).executable(caller.at) else {
        return Ok(found);
    };
    for entry in executable.entries() {
        let Entry::Instruction(instruction) = entry else {
            continue;
        };
        if !matches!(instruction.opcode, Opcode::CALL | Opcode::SCALL) {
            continue;
        }
        for operand in instruction.operands.operands() {
            match operand {
                Operand::CodeRef(at) => found.push(callee(program, caller, &instruction, at)?),
                Operand::CodeList(list) if instruction.opcode == Opcode::SCALL => {
                    for at in list.code() {
                        if program.module(caller).executable(at).is_some() {
                            found.push(callee(program, caller, &instruction, at)?);
                        }
                    }
                }
                _ => {}
            }
        }
    }
    Ok(found)
}

fn callee(
    program: &Linked,
    caller: Symbol,
    instruction: &Instruction<'_>,
    at: CodeOffset,
) -> Result<Symbol, CallError> {
    let symbol = program.definition(Symbol { at, ..caller });
    let executable = program.module(symbol).executable(symbol.at);
    match executable {
        Some(e)
            if !matches!(
                e.kind,
                ExecutableKind::Function | ExecutableKind::IndirectFunction
            ) =>
        {
            Err(not_a_function(program, caller, instruction))
        }
        Some(e) if e.is_definition => Ok(symbol),
        Some(e) => Err(CallError::Undefined {
            name: e.name.to_owned(),
        }),
        None => Err(not_a_function(program, caller, instruction)),
    }
}

fn not_a_function(program: &Linked, caller: Symbol, instruction: &Instruction<'_>) -> CallError {
    CallError::NotAFunction {
        module: program.module(caller).facts().name.to_owned(),
        at: instruction.at.0,
    }
}
