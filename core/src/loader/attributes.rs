//! What a program can ask about a symbol.
//!
//! The same attributes are asked of a symbol of a code object and of one of an executable, so both
//! answer from here. Values are those the specification documents, also where AMD's runtime answers
//! otherwise: a constant variable is constant, and a variable loaded for an agent has agent
//! allocation.

use super::kernel::Kernel;
use super::symbol::{ObjectSymbol, ObjectSymbolKind, DESCRIPTOR_SUFFIX};
use std::sync::Arc;

/// Separates the module's name from the symbol's (HSAIL symbols only).
const MODULE_SEPARATOR: &str = "::";

/// Who sees a symbol (`hsa_symbol_linkage_t`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Linkage {
    /// Its module.
    Module,
    /// All modules of the program.
    Program,
}

/// Where a variable lives (`hsa_variable_allocation_t`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allocation {
    /// Once for each agent.
    Agent,
    /// Once for all agents.
    Program,
}

/// Which segment a variable is in (`hsa_variable_segment_t`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VariableSegment {
    /// The global segment.
    Global,
    /// The readonly segment.
    Readonly,
}

/// The attributes of a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Variable {
    /// Where it lives.
    pub allocation: Allocation,
    /// Its segment.
    pub segment: VariableSegment,
    /// Its size in bytes, 0 if the program defined it.
    pub size: u64,
    /// Its alignment in bytes, 0 if the program defined it.
    pub alignment: u64,
    /// Whether device code cannot write it.
    pub is_const: bool,
}

/// What a symbol is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SymbolKind {
    /// A variable.
    Variable(Variable),
    /// A kernel.
    Kernel(Kernel),
    /// An indirect function of HSAIL; its only call convention is number 0.
    IndirectFunction,
}

impl SymbolKind {
    /// The attributes of a code object's symbol, `None` if it only declares something.
    pub(super) fn of(symbol: &ObjectSymbol<'_>) -> Option<Self> {
        match symbol.kind {
            ObjectSymbolKind::Kernel(kernel) => Some(Self::Kernel(kernel)),
            ObjectSymbolKind::Variable { is_const } => Some(Self::Variable(Variable {
                allocation: Allocation::Agent,
                segment: VariableSegment::Global,
                size: symbol.size,
                alignment: symbol.alignment,
                is_const,
            })),
            ObjectSymbolKind::IndirectFunction => Some(Self::IndirectFunction),
            ObjectSymbolKind::Declaration => None,
        }
    }
}

impl Linkage {
    /// The linkage of a code object's symbol.
    pub(super) fn of(symbol: &ObjectSymbol<'_>) -> Self {
        let of_module = is_hsail(symbol.name) && !split(symbol.name).0.is_empty();
        if symbol.is_global && !of_module {
            Self::Program
        } else {
            Self::Module
        }
    }
}

/// A symbol's full name, taken apart once. Libraries have code objects with thousands of kernels, whose names are hundreds of
/// bytes long, and HIP asks all symbols something for each of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Name {
    full: Arc<str>,
    /// Bytes of the module's name.
    module: usize,
    /// Where the symbol's own begins.
    own: usize,
}

impl Name {
    /// Takes a full name apart.
    pub(super) fn new(full: &str) -> Self {
        let (module, own) = split(full);
        Self {
            module: module.len(),
            own: full.len() - own.len(),
            full: full.into(),
        }
    }

    /// The name with the module's in front.
    pub(super) fn full(&self) -> &Arc<str> {
        &self.full
    }

    /// The module's name.
    pub(super) fn module(&self) -> &str {
        &self.full[..self.module]
    }

    /// The name within the module.
    pub(super) fn own(&self) -> &str {
        &self.full[self.own..]
    }
}

/// Splits a full name into the module's and the symbol's.
fn split(name: &str) -> (&str, &str) {
    match (name.find(MODULE_SEPARATOR), name.rfind(MODULE_SEPARATOR)) {
        (Some(first), Some(last)) => (&name[..first], &name[last + MODULE_SEPARATOR.len()..]),
        _ => ("", name),
    }
}

/// Whether a full name is one of HSAIL, whose names of module scope begin with a sigil.
pub(super) fn is_hsail(name: &str) -> bool {
    name.contains('&') && split(name).1.starts_with('&')
}

/// The full name under which a symbol is kept. Programs know the kernels of HSAIL by their own names, which are older
/// than the ending of descriptors; those of other languages they know with the ending.
pub(super) fn kept_as(name: &str) -> &str {
    match name.strip_suffix(DESCRIPTOR_SUFFIX) {
        Some(kernel) if is_hsail(kernel) => kernel,
        _ => name,
    }
}

/// Calls `look_up` with the full name of a symbol of a module; an empty module is none.
pub(super) fn look_up_in<T>(module: &str, name: &str, look_up: impl FnOnce(&str) -> T) -> T {
    if module.is_empty() {
        look_up(kept_as(name))
    } else {
        look_up(kept_as(&format!("{module}{MODULE_SEPARATOR}{name}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_without_separator_has_no_module() {
        assert_eq!(split("vadd.kd"), ("", "vadd.kd"));
        assert_eq!(split("&m::&vadd"), ("&m", "&vadd"));
        assert_eq!(split("a::b::c"), ("a", "c"));
        assert_eq!(split("::"), ("", ""));
        assert_eq!(split("a:b"), ("", "a:b"));
        for full in ["vadd.kd", "&m::&vadd", "a::b::c", "::", "a:b", ""] {
            let name = Name::new(full);
            assert_eq!((name.module(), name.own()), split(full));
            assert_eq!(&**name.full(), full);
        }
    }

    #[test]
    fn kernels_of_hsail_are_kept_under_their_own_names() {
        for (name, kept) in [
            ("&vadd.kd", "&vadd"),
            ("&m::&vadd.kd", "&m::&vadd"),
            ("&vadd", "&vadd"),
            ("vadd.kd", "vadd.kd"),
            ("ns::vadd.kd", "ns::vadd.kd"),
        ] {
            assert_eq!(kept_as(name), kept);
        }
    }

    #[test]
    fn the_full_name_is_what_split_takes_apart() {
        look_up_in("&m", "&vadd", |name| assert_eq!(split(name), ("&m", "&vadd")));
        look_up_in("", "vadd.kd", |name| assert_eq!(name, "vadd.kd"));
        look_up_in("&m", "&vadd.kd", |name| assert_eq!(name, "&m::&vadd"));
    }
}
