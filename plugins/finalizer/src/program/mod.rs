//! Programs: modules that are finalized together.

mod directives;
mod linked;
mod symbols;

pub use directives::{DirectiveError, Directives};
pub use linked::{Linked, Symbol, Target};
pub use symbols::Conflict;

use crate::brig::{BrigError, MachineModel, Module, Profile, Round};
use std::sync::Arc;
use symbols::Symbols;

/// What the modules of a program have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Settings {
    /// Width of addresses.
    pub machine_model: MachineModel,
    /// Profile.
    pub profile: Profile,
    /// Rounding of operations that name none: default, near or zero.
    pub rounding: Round,
}

/// Why a module cannot become a part of a program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddError {
    /// It is broken.
    #[error(transparent)]
    Invalid(#[from] BrigError),
    /// It was made for something else.
    #[error("The {what} of the module is not that of the program")]
    Incompatible {
        /// What differs.
        what: &'static str,
    },
    /// It is a part already.
    #[error("The module is in the program already")]
    Included,
    /// It does not agree with others.
    #[error("Symbol {name} of the module does not fit to that of another: {conflict}")]
    Symbol {
        /// The symbol.
        name: String,
        /// Why not.
        conflict: Conflict,
    },
}

/// A module of a program.
#[derive(Clone, Debug)]
struct Included {
    /// Where the program that made it has it.
    address: u64,
    module: Arc<Module>,
}

/// A program.
#[derive(Debug)]
pub struct Program {
    settings: Settings,
    modules: Vec<Included>,
    symbols: Symbols,
}

impl Program {
    /// A program without modules.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            modules: Vec::new(),
            symbols: Symbols::default(),
        }
    }

    /// What its modules have in common.
    #[must_use]
    pub fn settings(&self) -> Settings {
        self.settings
    }

    /// The addresses of its modules, in the order in which they came.
    pub fn addresses(&self) -> impl Iterator<Item = u64> + '_ {
        self.modules.iter().map(|included| included.address)
    }

    /// Its modules, in the order in which they came.
    #[must_use]
    pub fn modules(&self) -> Vec<Arc<Module>> {
        let modules = self.modules.iter();
        modules.map(|included| Arc::clone(&included.module)).collect()
    }

    /// Checks whether the module at an address may still come.
    pub fn is_new(&self, address: u64) -> Result<(), AddError> {
        if self.addresses().any(|known| known == address) {
            return Err(AddError::Included);
        }
        Ok(())
    }

    /// Adds the module at an address, of which `module` is a copy. After an error the program is as before.
    pub fn add(&mut self, address: u64, module: Module) -> Result<(), AddError> {
        self.is_new(address)?;
        let facts = module.facts();
        let what = |what| Err(AddError::Incompatible { what });
        if facts.machine_model != self.settings.machine_model {
            return what("machine model");
        }
        // Agents report the base profile, as AMD's do, though their code does all of the full one. Programs are made with
        // what the agent says, of modules for the full profile.
        if facts.profile != self.settings.profile && facts.profile != Profile::FULL {
            return what("profile");
        }
        // A module that leaves the rounding open fits every program.
        if facts.rounding != Round::DEFAULT && facts.rounding != self.settings.rounding {
            return what("default rounding");
        }
        let symbols = Symbols::of(&module)?;
        self.symbols
            .include(&symbols)
            .map_err(|(name, conflict)| AddError::Symbol { name, conflict })?;
        self.modules.push(Included {
            address,
            module: Arc::new(module),
        });
        Ok(())
    }
}
