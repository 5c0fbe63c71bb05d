//! Which functions are translated: those that can be called (PRM 4.2.1). Kernels and indirect functions can be from outside.

use super::error::Error;
use crate::brig::{Entry, Executable, ExecutableKind, Instruction, Opcode, Operand};
use crate::program::{Linked, Symbol};
use std::collections::BTreeSet;

/// The definitions of the functions that `instruction` calls, as far as there are any.
pub(super) fn callees<'m>(
    linked: &'m Linked,
    module: usize,
    instruction: &Instruction<'m>,
) -> Vec<(Symbol, Executable<'m>)> {
    let names = match (instruction.opcode, instruction.operand(1), instruction.operand(3)) {
        (Opcode::CALL, Some(Operand::CodeRef(at)), _) => vec![at],
        (Opcode::SCALL, _, Some(Operand::CodeList(list))) => list.code().collect(),
        _ => Vec::new(),
    };
    names
        .into_iter()
        .filter_map(|at| {
            let symbol = linked.definition(Symbol { module, at });
            let executable = linked.module(symbol).executable(symbol.at)?;
            Some((symbol, executable))
        })
        .collect()
}

/// Every executable that is to be translated, in order.
pub(crate) fn reachable(linked: &Linked) -> Result<BTreeSet<Symbol>, Error> {
    let mut open: Vec<Symbol> = Vec::new();
    for (module, brig) in linked.modules().iter().enumerate() {
        let roots = brig.executables().filter(|executable| {
            executable.is_definition
                && matches!(
                    executable.kind,
                    ExecutableKind::Kernel | ExecutableKind::IndirectFunction
                )
        });
        open.extend(roots.map(|executable| Symbol {
            module,
            at: executable.at,
        }));
    }
    let mut all: BTreeSet<Symbol> = open.iter().copied().collect();
    while let Some(symbol) = open.pop() {
        let Some(caller) = linked.module(symbol).executable(symbol.at) else {
            continue;
        };
        for entry in caller.entries() {
            let Entry::Instruction(instruction) = entry else {
                continue;
            };
            for (callee, executable) in callees(linked, symbol.module, &instruction) {
                if !executable.is_definition {
                    return Err(Error::UndefinedFunction {
                        caller: caller.name.to_owned(),
                        callee: executable.name.to_owned(),
                    });
                }
                if all.insert(callee) {
                    open.push(callee);
                }
            }
        }
    }
    Ok(all)
}
