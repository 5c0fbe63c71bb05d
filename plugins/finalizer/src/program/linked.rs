//! The modules of a program as one: which symbol stands for which definition.

use super::Settings;
use crate::brig::{CodeOffset, Linkage, Module};
use std::collections::HashMap;
use std::sync::Arc;

/// What code is made for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Target {
    /// The name of the instruction set, like `amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-`.
    pub isa: String,
    /// Lanes of a wavefront: `WAVESIZE`.
    pub wavefront: u32,
}

/// An entry of the code of one of the program's modules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Symbol {
    /// The module, as an index.
    pub module: usize,
    /// The entry in it.
    pub at: CodeOffset,
}

/// The modules of a program, and its symbols of program linkage by name.
#[derive(Debug)]
pub struct Linked {
    modules: Vec<Arc<Module>>,
    settings: Settings,
    definitions: HashMap<String, Symbol>,
}

impl Linked {
    /// Links modules whose symbols have been found compatible.
    #[must_use]
    pub fn new(modules: Vec<Arc<Module>>, settings: Settings) -> Self {
        let mut definitions = HashMap::new();
        for (index, module) in modules.iter().enumerate() {
            let executables = module
                .executables()
                .filter(|e| e.is_definition && e.linkage == Linkage::PROGRAM)
                .map(|e| (e.name, e.at));
            let variables = module
                .variables()
                .filter(|v| v.is_definition && v.linkage == Linkage::PROGRAM)
                .map(|v| (v.name, v.at));
            for (name, at) in executables.chain(variables) {
                definitions
                    .entry(name.to_owned())
                    .or_insert(Symbol { module: index, at });
            }
        }
        Self {
            modules,
            settings,
            definitions,
        }
    }

    /// What the modules have in common.
    #[must_use]
    pub fn settings(&self) -> Settings {
        self.settings
    }

    /// The modules.
    #[must_use]
    pub fn modules(&self) -> &[Arc<Module>] {
        &self.modules
    }

    /// The module of a symbol.
    #[must_use]
    pub fn module(&self, symbol: Symbol) -> &Module {
        &self.modules[symbol.module]
    }

    /// Where the definition of a symbol of module scope is: itself if it is one, the definition in whatever module if
    /// there is one, else itself, a declaration that nothing in the program defines.
    #[must_use]
    pub fn definition(&self, symbol: Symbol) -> Symbol {
        let module = self.module(symbol);
        let (name, linkage) = match (module.executable(symbol.at), module.variable(symbol.at)) {
            (Some(e), _) if !e.is_definition => (e.name, e.linkage),
            (_, Some(v)) if !v.is_definition => (v.name, v.linkage),
            _ => return symbol,
        };
        if linkage != Linkage::PROGRAM {
            return symbol;
        }
        self.definitions.get(name).copied().unwrap_or(symbol)
    }
}
