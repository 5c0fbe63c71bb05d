//! Executables: code objects placed in agents' memory and linked.
//!
//! An executable is built, then frozen. While it is unfrozen, code objects are loaded into it and the
//! program defines variables that they refer to, before the code objects that do; freezing uploads
//! everything and gives symbols their addresses. A name is defined once for each agent and once
//! for the program. (HSA runtime specification, "Executables".)
//!
//! Code refers to a variable of its agent first and to one of the program second.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use hansa_plugin_api::sync::RwLock;

use super::attributes::{
    kept_as, look_up_in, Allocation, Linkage, Name, SymbolKind, Variable, VariableSegment,
};
use super::code_object::CodeObject;
use super::error::LoadError;
use super::isa::{compatible_with_any, Isa};
use super::loaded::LoadedCodeObject;
use super::note::HsailSettings;
use super::placement::{AgentKey, Placement, PlacementError};
use super::reader::CodeObjectReader;
use super::symbol::ObjectSymbolKind;

/// The profile an executable is for (`hsa_profile_t`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Profile {
    /// Base.
    #[default]
    Base,
    /// Full.
    Full,
}

/// Default rounding of floating point operations (`hsa_default_float_rounding_mode_t`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FloatRounding {
    /// Whatever the code object says.
    #[default]
    Default,
    /// Towards zero.
    Zero,
    /// To the nearest value.
    Near,
}

/// Why an executable refused something.
#[derive(Debug, thiserror::Error)]
pub enum ExecutableError {
    /// It is frozen and can no longer be changed.
    #[error("Executable is frozen")]
    Frozen,
    /// The name has a definition already.
    #[error("Variable or kernel {name} is already defined in the executable")]
    AlreadyDefined {
        /// The name.
        name: String,
    },
    /// The code object is for agents, not for the program as a whole.
    #[error("Code object is for {isa}: load it for an agent, not for the program")]
    NotAProgramObject {
        /// What it is for.
        isa: Isa,
    },
    /// The code object says it has another profile or rounding mode.
    #[error(
        "Code object has profile {:?} and rounding {:?}, the executable {:?} and {:?}",
        object.0, object.1, executable.0, executable.1
    )]
    Settings {
        /// Profile and rounding mode of the code object.
        object: (Profile, FloatRounding),
        /// Profile and rounding mode of the executable.
        executable: (Profile, FloatRounding),
    },
    /// The code object is not loadable here.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// Memory could not be had or written.
    #[error(transparent)]
    Placement(#[from] PlacementError),
}

/// An agent to load code for.
#[derive(Debug, Clone, Copy)]
pub struct LoadTarget<'a> {
    /// The agent.
    pub agent: AgentKey,
    /// The instruction sets it executes, its own before a generic one.
    pub isas: &'a [Isa],
    /// Its memory.
    pub placement: &'a Arc<dyn Placement>,
}

/// A symbol of an executable. It can be held and asked without the executable's lock.
#[derive(Debug)]
pub struct Symbol {
    name: Name,
    kind: SymbolKind,
    linkage: Linkage,
    agent: Option<AgentKey>,
    address: u64,
    size: u64,
    alignment: u64,
    is_frozen: Arc<AtomicBool>,
    /// The handle that whoever has the executable gave it.
    pub(crate) handle: OnceLock<u64>,
}

impl Symbol {
    /// The name with the module's in front, which look-ups use.
    #[must_use]
    pub fn full_name(&self) -> &str {
        self.name.full()
    }

    /// The name within the module.
    #[must_use]
    pub fn name(&self) -> &str {
        self.name.own()
    }

    /// The module's name, empty for everything compilers produce today.
    #[must_use]
    pub fn module_name(&self) -> &str {
        self.name.module()
    }

    /// What it is, with the attributes of that.
    #[must_use]
    pub fn kind(&self) -> &SymbolKind {
        &self.kind
    }

    /// Who sees it.
    #[must_use]
    pub fn linkage(&self) -> Linkage {
        self.linkage
    }

    /// The agent it was loaded or defined for; `None` for program symbols.
    #[must_use]
    pub fn agent(&self) -> Option<AgentKey> {
        self.agent
    }

    /// Whether the executable defines it. Undefined symbols never get into an executable.
    #[must_use]
    pub fn is_definition(&self) -> bool {
        true
    }

    /// The variable's address or the kernel object (the descriptor's address), 0 until the
    /// executable is frozen.
    #[must_use]
    pub fn address(&self) -> u64 {
        if self.is_frozen.load(Ordering::Acquire) {
            self.address
        } else {
            0
        }
    }

    /// Bytes of what the symbol names, 0 if the program defined it.
    #[must_use]
    pub fn object_size(&self) -> u64 {
        self.size
    }

    /// Alignment of what the symbol names, 0 if the program defined it.
    #[must_use]
    pub fn object_alignment(&self) -> u64 {
        self.alignment
    }
}

/// A set of code objects and variables that are linked with each other.
#[derive(Debug)]
pub struct Executable {
    profile: Profile,
    rounding: FloatRounding,
    is_frozen: Arc<AtomicBool>,
    inner: RwLock<Inner>,
}

type SymbolTable = HashMap<Arc<str>, Arc<Symbol>>;

#[derive(Debug, Default)]
struct Inner {
    agents: HashMap<AgentKey, SymbolTable>,
    program: SymbolTable,
    /// Shared with those who go through it, so that going through it copies nothing.
    order: Arc<Vec<Arc<Symbol>>>,
    objects: Vec<Arc<LoadedCodeObject>>,
}

impl Executable {
    /// An empty, unfrozen executable.
    #[must_use]
    pub fn new(profile: Profile, rounding: FloatRounding) -> Self {
        Self {
            profile,
            rounding,
            is_frozen: Arc::default(),
            inner: RwLock::default(),
        }
    }

    /// The profile it was created for.
    #[must_use]
    pub fn profile(&self) -> Profile {
        self.profile
    }

    /// The rounding mode it was created for.
    #[must_use]
    pub fn rounding(&self) -> FloatRounding {
        self.rounding
    }

    /// Whether it is frozen.
    #[must_use]
    pub fn is_frozen(&self) -> bool {
        self.is_frozen.load(Ordering::Acquire)
    }

    /// Defines a variable for all agents.
    ///
    /// # Errors
    ///
    /// [`ExecutableError::Frozen`], [`ExecutableError::AlreadyDefined`].
    pub fn define_program_variable(&self, name: &str, address: u64) -> Result<(), ExecutableError> {
        self.define(name, None, address, VariableSegment::Global)
    }

    /// Defines a variable for an agent.
    ///
    /// # Errors
    ///
    /// [`ExecutableError::Frozen`], [`ExecutableError::AlreadyDefined`].
    pub fn define_agent_variable(
        &self,
        name: &str,
        agent: AgentKey,
        address: u64,
    ) -> Result<(), ExecutableError> {
        self.define(name, Some(agent), address, VariableSegment::Global)
    }

    /// Defines a variable in an agent's readonly segment.
    ///
    /// # Errors
    ///
    /// [`ExecutableError::Frozen`], [`ExecutableError::AlreadyDefined`].
    pub fn define_readonly_variable(
        &self,
        name: &str,
        agent: AgentKey,
        address: u64,
    ) -> Result<(), ExecutableError> {
        self.define(name, Some(agent), address, VariableSegment::Readonly)
    }

    fn define(
        &self,
        name: &str,
        agent: Option<AgentKey>,
        address: u64,
        segment: VariableSegment,
    ) -> Result<(), ExecutableError> {
        let mut inner = self.inner.write();
        self.check_unfrozen()?;
        inner.check_new(name, agent)?;
        let allocation = match agent {
            Some(_) => Allocation::Agent,
            None => Allocation::Program,
        };
        inner.insert(Symbol {
            name: Name::new(name),
            kind: SymbolKind::Variable(Variable {
                allocation,
                segment,
                size: 0,
                alignment: 0,
                is_const: segment == VariableSegment::Readonly,
            }),
            linkage: Linkage::Program,
            agent,
            address,
            size: 0,
            alignment: 0,
            is_frozen: Arc::clone(&self.is_frozen),
            handle: OnceLock::new(),
        });
        Ok(())
    }

    /// Loads a code object for an agent. On failure the executable is as before.
    ///
    /// # Errors
    ///
    /// [`ExecutableError`] if it is frozen, the object is not for this agent or broken, a name is
    /// defined twice or not at all, or there is no memory.
    pub fn load_agent_code_object(
        &self,
        reader: &CodeObjectReader,
        target: LoadTarget<'_>,
    ) -> Result<Arc<LoadedCodeObject>, ExecutableError> {
        // Parsing and copying need no lock; the checks under the lock decide.
        self.check_unfrozen()?;
        let object = reader.parse()?;
        compatible_with_any(object.target(), target.isas).map_err(LoadError::from)?;
        self.check_settings(object.hsail_settings())?;

        let mut inner = self.inner.write();
        self.check_unfrozen()?;
        inner.check_symbols(&object, target.agent)?;
        let loaded = LoadedCodeObject::load(&object, reader, target, &mut |name| {
            inner.find_for(target.agent, name).map(|symbol| symbol.address)
        })?;
        Arc::make_mut(&mut inner.order).reserve(object.symbols().len());
        for symbol in object.symbols() {
            let Some(kind) = SymbolKind::of(symbol) else {
                continue;
            };
            inner.insert(Symbol {
                name: Name::new(symbol.name),
                kind,
                linkage: Linkage::of(symbol),
                agent: Some(target.agent),
                address: loaded.delta().wrapping_add(symbol.address),
                size: symbol.size,
                alignment: symbol.alignment,
                is_frozen: Arc::clone(&self.is_frozen),
                handle: OnceLock::new(),
            });
        }
        let loaded = Arc::new(loaded);
        inner.objects.push(Arc::clone(&loaded));
        Ok(loaded)
    }

    /// Refuses a code object for the program: version 2 and later exist only for agents.
    ///
    /// # Errors
    ///
    /// Always: what is wrong with the object, or that it is for an agent.
    pub fn load_program_code_object(
        &self,
        reader: &CodeObjectReader,
    ) -> Result<Arc<LoadedCodeObject>, ExecutableError> {
        self.check_unfrozen()?;
        let isa = reader.parse()?.target().isa;
        Err(ExecutableError::NotAProgramObject { isa })
    }

    /// Uploads all code objects and gives symbols their addresses.
    ///
    /// # Errors
    ///
    /// [`ExecutableError::Frozen`] the second time; [`ExecutableError::Placement`] if a device did
    /// not take its code, which leaves the executable unfrozen.
    pub fn freeze(&self) -> Result<(), ExecutableError> {
        let inner = self.inner.write();
        self.check_unfrozen()?;
        for object in &inner.objects {
            object.upload()?;
        }
        self.is_frozen.store(true, Ordering::Release);
        Ok(())
    }

    /// Whether every symbol of a loaded code object lies in that code object's memory.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        let inner = self.inner.read();
        inner.order.iter().filter(|symbol| symbol.size > 0).all(|symbol| {
            inner
                .objects
                .iter()
                .any(|object| object.contains(symbol.address, symbol.size))
        })
    }

    /// The symbol with a full name: of an agent, or of the program if there is no agent.
    #[must_use]
    pub fn symbol(&self, name: &str, agent: Option<AgentKey>) -> Option<Arc<Symbol>> {
        self.inner.read().find(kept_as(name), agent).cloned()
    }

    /// The symbol of a module; an empty module is none.
    #[must_use]
    pub fn symbol_of_module(&self, module: &str, name: &str, agent: Option<AgentKey>) -> Option<Arc<Symbol>> {
        look_up_in(module, name, |name| self.symbol(name, agent))
    }

    /// All symbols in the order they were defined in.
    #[must_use]
    pub fn symbols(&self) -> Arc<Vec<Arc<Symbol>>> {
        Arc::clone(&self.inner.read().order)
    }

    /// The loaded code objects in the order they were loaded in.
    #[must_use]
    pub fn loaded_code_objects(&self) -> Vec<Arc<LoadedCodeObject>> {
        self.inner.read().objects.clone()
    }

    /// The loaded code object with a device address in it.
    #[must_use]
    pub fn loaded_at(&self, device_address: u64) -> Option<Arc<LoadedCodeObject>> {
        let inner = self.inner.read();
        let at = inner
            .objects
            .iter()
            .find(|object| object.contains(device_address, 1));
        at.cloned()
    }

    fn check_unfrozen(&self) -> Result<(), ExecutableError> {
        if self.is_frozen() {
            Err(ExecutableError::Frozen)
        } else {
            Ok(())
        }
    }

    /// Objects made from HSAIL say which profile and rounding mode they were finalized for.
    fn check_settings(&self, object: Option<HsailSettings>) -> Result<(), ExecutableError> {
        let Some(HsailSettings { profile, rounding }) = object else {
            return Ok(());
        };
        let rounds_alike =
            rounding == self.rounding || [rounding, self.rounding].contains(&FloatRounding::Default);
        if profile == self.profile && rounds_alike {
            return Ok(());
        }
        Err(ExecutableError::Settings {
            object: (profile, rounding),
            executable: (self.profile, self.rounding),
        })
    }
}

impl Drop for Executable {
    fn drop(&mut self) {
        for object in self.inner.get_mut().objects.drain(..) {
            object.free();
        }
    }
}

impl Inner {
    fn find(&self, name: &str, agent: Option<AgentKey>) -> Option<&Arc<Symbol>> {
        match agent {
            Some(agent) => self.agents.get(&agent)?.get(name),
            None => self.program.get(name),
        }
    }

    /// What code of an agent means by a name.
    fn find_for(&self, agent: AgentKey, name: &str) -> Option<&Arc<Symbol>> {
        self.find(name, Some(agent)).or_else(|| self.find(name, None))
    }

    fn check_new(&self, name: &str, agent: Option<AgentKey>) -> Result<(), ExecutableError> {
        match self.find(name, agent) {
            None => Ok(()),
            Some(_) => Err(ExecutableError::AlreadyDefined {
                name: name.to_owned(),
            }),
        }
    }

    /// Whether a code object's definitions are new and its declarations are not.
    fn check_symbols(&self, object: &CodeObject<'_>, agent: AgentKey) -> Result<(), ExecutableError> {
        let mut names = std::collections::HashSet::with_capacity(object.symbols().len());
        for symbol in object.symbols() {
            if symbol.kind == ObjectSymbolKind::Declaration {
                if self.find_for(agent, symbol.name).is_none() {
                    return Err(ExecutableError::Load(LoadError::UndefinedVariable {
                        name: symbol.name.to_owned(),
                    }));
                }
                continue;
            }
            self.check_new(symbol.name, Some(agent))?;
            if !names.insert(symbol.name) {
                return Err(ExecutableError::AlreadyDefined {
                    name: symbol.name.to_owned(),
                });
            }
        }
        Ok(())
    }

    fn insert(&mut self, symbol: Symbol) {
        let symbol = Arc::new(symbol);
        let table = match symbol.agent {
            Some(agent) => self.agents.entry(agent).or_default(),
            None => &mut self.program,
        };
        table.insert(Arc::clone(symbol.name.full()), Arc::clone(&symbol));
        Arc::make_mut(&mut self.order).push(symbol);
    }
}
