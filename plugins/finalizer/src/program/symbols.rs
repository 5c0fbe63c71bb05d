//! The symbols of a module, and which of other modules they fit (PRM 4.3.10, 4.12).

use crate::brig::{
    BrigError, CodeOffset, Directive, Entry, Executable, ExecutableKind, Fbarrier, Linkage, Module, Operand,
    Segment, Type, Variable,
};
use std::collections::HashMap;

/// A formal argument: type, alignment, elements.
type Formal = (Type, u32, u64);

/// What declarations of one symbol must agree on.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Shape {
    Executable {
        kind: ExecutableKind,
        output: Option<Formal>,
        inputs: Vec<Formal>,
    },
    Variable {
        segment: Segment,
        ty: Type,
        alignment: u32,
        is_const: bool,
        allocation: u8,
        dim: u64,
    },
    Fbarrier,
}

/// A symbol of module scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Symbol {
    shape: Shape,
    linkage: Linkage,
    is_definition: bool,
}

/// Why two declarations are not of one symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Conflict {
    /// Both define it.
    #[error("it is defined twice")]
    DefinedTwice,
    /// They are of different kinds.
    #[error("it is of one kind here and of another there")]
    Kind,
    /// They have different arguments.
    #[error("its arguments differ")]
    Arguments,
    /// They have different linkages.
    #[error("its linkages differ")]
    Linkage,
    /// They have different types or sizes.
    #[error("its types or sizes differ")]
    Type,
    /// They have different segments or qualifiers.
    #[error("its segments or qualifiers differ")]
    Qualifiers,
}

impl Symbol {
    /// Takes on another declaration of the same name.
    fn join(&mut self, other: &Self) -> Result<(), Conflict> {
        if self.is_definition && other.is_definition {
            return Err(Conflict::DefinedTwice);
        }
        if self.linkage != other.linkage {
            return Err(Conflict::Linkage);
        }
        let size = agree(&self.shape, &other.shape)?;
        if let (Shape::Variable { dim, .. }, Some(size)) = (&mut self.shape, size) {
            *dim = size;
        }
        self.is_definition |= other.is_definition;
        Ok(())
    }
}

/// Whether two shapes are one; for arrays the answer is their size.
fn agree(one: &Shape, other: &Shape) -> Result<Option<u64>, Conflict> {
    match (one, other) {
        (
            Shape::Executable { kind, output, inputs },
            Shape::Executable {
                kind: kind_2,
                output: output_2,
                inputs: inputs_2,
            },
        ) => {
            if kind != kind_2 {
                return Err(Conflict::Kind);
            }
            if (output, inputs) != (output_2, inputs_2) {
                return Err(Conflict::Arguments);
            }
            Ok(None)
        }
        (
            Shape::Variable {
                segment,
                ty,
                alignment,
                is_const,
                allocation,
                dim,
            },
            Shape::Variable {
                segment: segment_2,
                ty: ty_2,
                alignment: alignment_2,
                is_const: is_const_2,
                allocation: allocation_2,
                dim: dim_2,
            },
        ) => {
            if (segment, alignment, is_const, allocation)
                != (segment_2, alignment_2, is_const_2, allocation_2)
            {
                return Err(Conflict::Qualifiers);
            }
            if ty != ty_2 || (dim != dim_2 && *dim != 0 && *dim_2 != 0) {
                return Err(Conflict::Type);
            }
            Ok(Some(*dim.max(dim_2)))
        }
        (Shape::Fbarrier, Shape::Fbarrier) => Ok(None),
        _ => Err(Conflict::Kind),
    }
}

fn formal(variable: &Variable<'_>) -> Formal {
    (variable.ty, variable.alignment(), variable.dim)
}

impl From<&Executable<'_>> for Symbol {
    fn from(executable: &Executable<'_>) -> Self {
        Self {
            shape: Shape::Executable {
                kind: executable.kind,
                output: executable.output().as_ref().map(formal),
                inputs: executable.inputs().map(|v| formal(&v)).collect(),
            },
            linkage: executable.linkage,
            is_definition: executable.is_definition,
        }
    }
}

impl From<&Variable<'_>> for Symbol {
    fn from(variable: &Variable<'_>) -> Self {
        Self {
            shape: Shape::Variable {
                segment: variable.segment,
                ty: variable.ty,
                alignment: variable.alignment(),
                is_const: variable.is_const,
                allocation: variable.allocation.0,
                dim: variable.dim,
            },
            linkage: variable.linkage,
            is_definition: variable.is_definition,
        }
    }
}

impl From<&Fbarrier<'_>> for Symbol {
    fn from(fbarrier: &Fbarrier<'_>) -> Self {
        Self {
            shape: Shape::Fbarrier,
            linkage: fbarrier.linkage,
            is_definition: fbarrier.is_definition,
        }
    }
}

/// Symbols by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Symbols(HashMap<String, Symbol>);

impl Symbols {
    /// The symbols of module scope of a module that declares each in one way.
    pub(crate) fn of(module: &Module) -> Result<Self, BrigError> {
        let mut symbols = Self::default();
        for entry in module.top() {
            let (at, name, symbol) = match &entry {
                Entry::Directive(Directive::Executable(e)) => {
                    executable(e)?;
                    // A signature is a type and no symbol.
                    if e.kind == ExecutableKind::Signature {
                        continue;
                    }
                    (e.at, e.name, e.into())
                }
                Entry::Directive(Directive::Variable(v)) => {
                    module_variable(v)?;
                    (v.at, v.name, v.into())
                }
                Entry::Directive(Directive::Fbarrier(f)) => (f.at, f.name, f.into()),
                _ => continue,
            };
            let error = |reason| BrigError::code(at.0, reason);
            if !name.starts_with('&') {
                return Err(error(
                    "the name of something of module scope does not start with `&`",
                ));
            }
            symbols
                .join(name, &symbol)
                .map_err(|_| error("two declarations of one symbol do not agree"))?;
        }
        let undefined = |symbol: &Symbol| symbol.linkage == Linkage::MODULE && !symbol.is_definition;
        if symbols.0.values().any(undefined) {
            return Err(BrigError::code(
                0,
                "a symbol of module linkage is declared but never defined",
            ));
        }
        Ok(symbols)
    }

    fn join(&mut self, name: &str, symbol: &Symbol) -> Result<(), Conflict> {
        match self.0.get_mut(name) {
            Some(known) => known.join(symbol),
            None => {
                self.0.insert(name.to_owned(), symbol.clone());
                Ok(())
            }
        }
    }

    /// Takes on the symbols of program linkage of one more module, or nothing and the name of the one that does not fit.
    pub(crate) fn include(&mut self, module: &Self) -> Result<(), (String, Conflict)> {
        let mut joined = self.clone();
        let shared = |(_, symbol): &(&String, &Symbol)| symbol.linkage == Linkage::PROGRAM;
        for (name, symbol) in module.0.iter().filter(shared) {
            joined
                .join(name, symbol)
                .map_err(|conflict| (name.clone(), conflict))?;
        }
        *self = joined;
        Ok(())
    }
}

/// Checks an executable: its linkage, the segments of its arguments, and its variables.
fn executable(executable: &Executable<'_>) -> Result<(), BrigError> {
    let error = |at: CodeOffset, reason| Err(BrigError::code(at.0, reason));
    let (linkage, segment) = match executable.kind {
        ExecutableKind::Kernel => (executable.linkage, Segment::KERNARG),
        ExecutableKind::Signature => (Linkage::PROGRAM, Segment::ARG),
        _ => (executable.linkage, Segment::ARG),
    };
    if !matches!(linkage, Linkage::PROGRAM | Linkage::MODULE) {
        return error(
            executable.at,
            "a kernel or function has neither program nor module linkage",
        );
    }
    for argument in executable.output().into_iter().chain(executable.inputs()) {
        if argument.segment != segment || argument.init.is_some() {
            return error(
                argument.at,
                "an argument is in another segment than arguments are, or has a value",
            );
        }
    }
    if executable.kind == ExecutableKind::Kernel && executable.output().is_some() {
        return error(executable.at, "a kernel has an output argument");
    }
    for entry in executable.entries() {
        let Entry::Directive(Directive::Variable(variable)) = entry else {
            continue;
        };
        let known = matches!(
            variable.segment,
            Segment::GLOBAL
                | Segment::READONLY
                | Segment::GROUP
                | Segment::PRIVATE
                | Segment::SPILL
                | Segment::ARG
        );
        if !known || !variable.name.starts_with('%') {
            return error(
                variable.at,
                "a variable of a function has another segment than it can have, or no name with `%`",
            );
        }
        initial_value(&variable)?;
    }
    Ok(())
}

fn module_variable(variable: &Variable<'_>) -> Result<(), BrigError> {
    let known = matches!(
        variable.segment,
        Segment::GLOBAL | Segment::READONLY | Segment::GROUP | Segment::PRIVATE
    );
    if !known || !matches!(variable.linkage, Linkage::PROGRAM | Linkage::MODULE) {
        return Err(BrigError::code(
            variable.at.0,
            "a variable of module scope has another segment or linkage than it can have",
        ));
    }
    initial_value(variable)
}

/// Only memory that a program can see has values from the start, and they are as large as it is.
fn initial_value(variable: &Variable<'_>) -> Result<(), BrigError> {
    let fits = match variable.init {
        None => true,
        Some(Operand::Constant(constant)) => constant.bytes.len() as u64 == variable.bytes(),
        Some(_) => true,
    };
    let has_values = matches!(variable.segment, Segment::GLOBAL | Segment::READONLY);
    if fits && (has_values || variable.init.is_none()) {
        Ok(())
    } else {
        Err(BrigError::code(
            variable.at.0,
            "a variable's first value is not of its size, or it cannot have one",
        ))
    }
}
