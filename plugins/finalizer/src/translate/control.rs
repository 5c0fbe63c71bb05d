//! Branches and calls (PRM chapters 8 and 10).

use super::builder::{Pointer, Value};
use super::error::{invalid, Reason};
use super::function::{label_name, passing, result_type, Function, Passing};
use super::globals::space;
use super::names::{quoted, symbol};
use super::operand::ty_of;
use super::reach;
use super::ty::Ty;
use crate::brig::{
    CodeOffset, Directive, Executable, ExecutableKind, Instruction, List, Opcode, Operand, Type, Variable,
};

/// The block of a label of this function.
fn label(f: &Function<'_>, at: CodeOffset) -> Result<String, Reason> {
    match f.module.directive(at) {
        Some(Directive::Label(label)) if f.executable.body.contains(at) => Ok(label_name(label)),
        _ => invalid("its target is no label of this function"),
    }
}

/// `br`, `cbr`, `sbr`.
pub(super) fn branch<'a>(f: &mut Function<'a>, i: &Instruction<'a>) -> Result<(), Reason> {
    match (i.opcode, i.operand(0), i.operand(1)) {
        (Opcode::BR, Some(Operand::CodeRef(at)), _) => {
            let label = label(f, at)?;
            f.b.end(format_args!("br label %{label}"));
        }
        (Opcode::CBR, Some(condition), Some(Operand::CodeRef(at))) => {
            let label = label(f, at)?;
            let condition = f.read(condition, Type::B1)?;
            let next = f.b.label();
            f.b.end(format_args!("br i1 {condition}, label %{label}, label %{next}"));
            f.b.block(&next);
        }
        (Opcode::SBR, Some(index), Some(Operand::CodeList(list))) => {
            let labels: Result<Vec<String>, Reason> = list.code().map(|at| label(f, at)).collect();
            let index = f.read(index, i.ty)?;
            switch(f, &index, &labels?)?;
        }
        _ => return invalid("it has other operands than it can have"),
    }
    Ok(())
}

/// Goes to one of several blocks. An index that is too large, which is undefined, goes to the last.
fn switch(f: &mut Function<'_>, index: &Value, labels: &[String]) -> Result<(), Reason> {
    if !matches!(index.ty, Ty::I32 | Ty::I64) {
        return invalid("its index has neither 32 nor 64 bits");
    }
    let Some((last, rest)) = labels.split_last() else {
        return invalid("it has no targets");
    };
    let ty = index.ty;
    let cases: Vec<String> = (0..)
        .zip(rest)
        .map(|(number, label): (u32, _)| format!("{ty} {number}, label %{label}"))
        .collect();
    f.b.end(format_args!(
        "switch {ty} {index}, label %{last} [{}]",
        cases.join(" ")
    ));
    Ok(())
}

/// `ret`.
pub(super) fn ret<'a>(f: &mut Function<'a>, _: &Instruction<'a>) -> Result<(), Reason> {
    let text = f.return_text();
    f.b.end(text);
    Ok(())
}

/// `call`, `scall`, `icall`.
pub(super) fn call<'a>(f: &mut Function<'a>, i: &Instruction<'a>) -> Result<(), Reason> {
    let (Some(Operand::CodeList(outputs)), Some(Operand::CodeList(inputs))) = (i.operand(0), i.operand(2))
    else {
        return invalid("it has no lists of arguments");
    };
    if i.opcode == Opcode::ICALL {
        let Some(Operand::CodeRef(at)) = i.operand(3) else {
            return invalid("it has no signature");
        };
        let Some(signature) = f.module.executable(at) else {
            return invalid("it has no signature");
        };
        let handle = f.source(i, 1, i.ty)?;
        if ty_of(i.ty)? != Ty::I64 {
            return invalid("handles of functions have 64 bits");
        }
        let target =
            f.b.pointer(space::FLAT, format_args!("inttoptr i64 {handle} to ptr"));
        return one_call(f, signature, &target.text, outputs, inputs);
    }
    let callees = reach::callees(f.unit.linked, f.index, i);
    let named = match i.operand(3) {
        Some(Operand::CodeList(list)) if i.opcode == Opcode::SCALL => list.len(),
        _ => 1,
    };
    if callees.is_empty() || callees.len() != named {
        return invalid("what it calls is no function");
    }
    let mut targets = Vec::new();
    for (symbol_of, executable) in callees {
        if !matches!(
            executable.kind,
            ExecutableKind::Function | ExecutableKind::IndirectFunction
        ) {
            return invalid("what it calls is no function");
        }
        let module = f.unit.linked.module(symbol_of).facts().name;
        targets.push((
            executable,
            quoted(&symbol(module, executable.linkage, executable.name)),
        ));
    }
    if i.opcode == Opcode::CALL {
        let (executable, name) = &targets[0];
        return one_call(f, *executable, name, outputs, inputs);
    }
    let index = f.source(i, 1, i.ty)?;
    let labels: Vec<String> = targets.iter().map(|_| f.b.label()).collect();
    let done = f.b.label();
    switch(f, &index, &labels)?;
    for ((executable, name), label) in targets.iter().zip(&labels) {
        f.b.block(label);
        one_call(f, *executable, name, outputs, inputs)?;
        f.b.end(format_args!("br label %{done}"));
    }
    f.b.block(&done);
    Ok(())
}

/// The variable of the arg block for a formal argument.
fn actual(f: &mut Function<'_>, at: CodeOffset, formal: &Variable<'_>) -> Result<Pointer, Reason> {
    let Some(variable) = f.module.variable(at) else {
        return invalid("an argument is no variable");
    };
    // The size of the last array may be open.
    let is_same = variable.ty == formal.ty && (variable.dim == formal.dim || formal.dim == 0);
    if !is_same || passing(&variable) != passing(formal) {
        return invalid(format!(
            "{} does not fit the argument {}",
            variable.name, formal.name
        ));
    }
    let (pointer, _) = f.variable(at)?;
    if pointer.space != space::PRIVATE {
        return invalid("an argument is not in the arg segment");
    }
    Ok(pointer)
}

/// A call of one function by its name or address.
fn one_call(
    f: &mut Function<'_>,
    executable: Executable<'_>,
    target: &str,
    outputs: List<'_>,
    inputs: List<'_>,
) -> Result<(), Reason> {
    let mut arguments = Vec::new();
    if !f.unit.frame.is_empty() {
        arguments.push("ptr addrspace(5) %frame".to_owned());
    }
    let formals: Vec<Variable<'_>> = executable.inputs().collect();
    let output = executable.output();
    if outputs.len() != usize::from(output.is_some()) || inputs.len() != formals.len() {
        return invalid(format!(
            "it has another number of arguments than {}",
            executable.name
        ));
    }
    let mut result = None;
    if let (Some(formal), Some(at)) = (output, outputs.code().next()) {
        let place = actual(f, at, &formal)?;
        match passing(&formal) {
            Passing::Value(ty) => result = Some((ty, place)),
            Passing::Address => arguments.push(place.to_string()),
        }
    }
    for (formal, at) in formals.iter().zip(inputs.code()) {
        let place = actual(f, at, formal)?;
        arguments.push(match passing(formal) {
            Passing::Value(ty) => f.b.value(ty, format_args!("load {ty}, {place}")).argument(),
            Passing::Address => place.to_string(),
        });
    }
    let text = format!(
        "call {} {target}({})",
        result_type(executable),
        arguments.join(", ")
    );
    match result {
        Some((ty, place)) => {
            let value = f.b.value(ty, text);
            f.b.line(format_args!("store {}, {place}", value.argument()));
        }
        None => f.b.line(text),
    }
    Ok(())
}
