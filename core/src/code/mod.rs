//! Code of a runtime: code object readers, executables and their symbols behind handles, and where code is placed.
//!
//! [`loader`](crate::loader) knows no runtime; this module gives its objects handles, agents and memory. Handles of
//! what belongs to an executable (symbols, loaded code objects) are made when they are asked for first, are the
//! same each time, and die with the executable.

mod objects;
mod placement;

pub use objects::{CodeObject, CodeObjectSymbol};

use crate::error::{Error, Result};
use crate::handle::{self, Kind, Table};
use crate::loader::{
    AgentKey, CodeObjectReader, Executable, ExecutableError, FloatRounding, Isa, LoadError, LoadTarget,
    LoadedCodeObject, PlacementError, Profile, ReaderError, Symbol, SymbolKind, DESCRIPTOR_SUFFIX,
};
use crate::log::{self, Topic};
use crate::runtime::Runtime;
use hansa_plugin_api::sync::Mutex;
use std::collections::HashMap;
use std::sync::Arc;

/// The code of a runtime.
#[derive(Debug)]
pub struct Code {
    readers: Table<CodeObjectReader>,
    executables: Table<LiveExecutable>,
    symbols: Table<ExecutableSymbol>,
    loaded: Table<Loaded>,
    objects: Table<CodeObject>,
    object_symbols: Table<CodeObjectSymbol>,
    /// Executables in the order in which they were made.
    order: Mutex<Vec<u64>>,
}

impl Default for Code {
    fn default() -> Self {
        Self {
            readers: Table::new(Kind::Reader),
            executables: Table::new(Kind::Executable),
            symbols: Table::new(Kind::Symbol),
            loaded: Table::new(Kind::LoadedCodeObject),
            objects: Table::new(Kind::CodeObject),
            object_symbols: Table::new(Kind::CodeSymbol),
            order: Mutex::new(Vec::new()),
        }
    }
}

/// An executable with the handles of what it holds.
#[derive(Debug)]
pub struct LiveExecutable {
    /// The executable.
    pub executable: Executable,
    /// Handles of symbols.
    symbols: Mutex<Vec<u64>>,
    /// Handles of loaded code objects, by their address in this process.
    loaded: Mutex<HashMap<usize, u64>>,
}

/// A symbol of a live executable.
#[derive(Debug)]
pub struct ExecutableSymbol {
    /// The executable's handle.
    pub executable: u64,
    /// The symbol.
    pub symbol: Arc<Symbol>,
}

/// A code object loaded into a live executable.
#[derive(Debug)]
pub struct Loaded {
    /// The executable's handle.
    pub executable: u64,
    /// The code object.
    pub object: Arc<LoadedCodeObject>,
}

/// Names an agent to the loader.
#[must_use]
pub fn agent_key(agent: usize) -> AgentKey {
    AgentKey(agent as u64)
}

/// The index of the agent that a key names.
#[must_use]
pub fn agent_of(key: AgentKey) -> usize {
    usize::try_from(key.0).unwrap_or(usize::MAX)
}

/// The handle of an instruction set; the same in every runtime.
#[must_use]
pub fn isa_handle(isa: Isa) -> u64 {
    handle::of_code(Kind::Isa, isa.code())
}

/// The instruction set behind a handle.
///
/// # Errors
///
/// [`Error::InvalidIsa`] for any other handle.
pub fn isa(handle: u64) -> Result<Isa> {
    handle::code(handle, Kind::Isa)
        .and_then(Isa::from_code)
        .ok_or(Error::InvalidIsa)
}

/// The handle of the only wavefront of an instruction set.
#[must_use]
pub fn wavefront_handle(isa: Isa) -> u64 {
    handle::of_code(Kind::Wavefront, isa.code())
}

/// The instruction set that a wavefront is of.
///
/// # Errors
///
/// [`Error::InvalidWavefront`] for any other handle.
pub fn wavefront(handle: u64) -> Result<Isa> {
    handle::code(handle, Kind::Wavefront)
        .and_then(Isa::from_code)
        .ok_or(Error::InvalidWavefront)
}

impl From<ReaderError> for Error {
    fn from(error: ReaderError) -> Self {
        match error {
            ReaderError::NotAFile { .. } | ReaderError::Unreadable { .. } => Self::InvalidFile,
            ReaderError::Range { .. } => Self::InvalidCodeObject(error.to_string()),
            ReaderError::OutOfMemory { .. } => Self::OutOfResources("memory for a code object"),
        }
    }
}

impl From<LoadError> for Error {
    fn from(error: LoadError) -> Self {
        match error {
            LoadError::Isa(difference) => Self::IncompatibleCode(difference.to_string()),
            LoadError::UndefinedVariable { name } => Self::VariableUndefined(name),
            LoadError::Version { .. }
            | LoadError::AbiVersion { .. }
            | LoadError::Processor { .. }
            | LoadError::NoteTarget { .. }
            | LoadError::Machine { .. }
            | LoadError::OsAbi { .. }
            | LoadError::Broken { .. } => Self::InvalidCodeObject(error.to_string()),
        }
    }
}

impl From<ExecutableError> for Error {
    fn from(error: ExecutableError) -> Self {
        match error {
            ExecutableError::Frozen => Self::FrozenExecutable,
            ExecutableError::AlreadyDefined { name } => Self::VariableAlreadyDefined(name),
            ExecutableError::NotAProgramObject { .. } => {
                Self::IncompatibleArguments("the code object is for an agent, not for the program")
            }
            ExecutableError::Settings { .. } => {
                Self::IncompatibleArguments("profile or rounding of code object and executable differ")
            }
            ExecutableError::Load(error) => error.into(),
            ExecutableError::Placement(PlacementError::OutOfMemory { .. }) => {
                Self::OutOfResources("memory for code")
            }
            ExecutableError::Placement(PlacementError::Failed { .. }) => {
                Self::Failed("code cannot be placed in memory of the agent")
            }
        }
    }
}

impl Code {
    /// Lets go of everything, while agents still have their memory.
    pub(crate) fn clear(&self) {
        for executable in std::mem::take(&mut *self.order.lock()) {
            self.remove_executable(executable);
        }
    }

    fn remove_executable(&self, executable: u64) -> Option<Arc<LiveExecutable>> {
        let live = self.executables.remove(executable)?;
        for symbol in live.symbols.lock().drain(..) {
            self.symbols.remove(symbol);
        }
        for (_, loaded) in live.loaded.lock().drain() {
            self.loaded.remove(loaded);
        }
        Some(live)
    }
}

fn full() -> Error {
    Error::OutOfResources("handles")
}

impl Runtime {
    /// Gives a reader a handle.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfResources`] when there are too many.
    pub fn add_reader(&self, reader: CodeObjectReader) -> Result<u64> {
        self.code.readers.insert(Arc::new(reader)).ok_or_else(full)
    }

    /// The reader behind a handle.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidCodeObjectReader`] for any other handle.
    pub fn reader(&self, reader: u64) -> Result<Arc<CodeObjectReader>> {
        self.code
            .readers
            .get(reader)
            .ok_or(Error::InvalidCodeObjectReader)
    }

    /// Destroys a reader. What was loaded from it stays.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidCodeObjectReader`] for any other handle.
    pub fn destroy_reader(&self, reader: u64) -> Result<()> {
        self.code
            .readers
            .remove(reader)
            .map(drop)
            .ok_or(Error::InvalidCodeObjectReader)
    }

    /// Makes an executable.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfResources`] when there are too many.
    pub fn create_executable(&self, profile: Profile, rounding: FloatRounding) -> Result<u64> {
        let live = LiveExecutable {
            executable: Executable::new(profile, rounding),
            symbols: Mutex::default(),
            loaded: Mutex::default(),
        };
        let handle = self.code.executables.insert(Arc::new(live)).ok_or_else(full)?;
        self.code.order.lock().push(handle);
        Ok(handle)
    }

    /// The executable behind a handle.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidExecutable`] for any other handle.
    pub fn executable(&self, executable: u64) -> Result<Arc<LiveExecutable>> {
        self.code
            .executables
            .get(executable)
            .ok_or(Error::InvalidExecutable)
    }

    /// All executables, in the order in which they were made.
    #[must_use]
    pub fn executables(&self) -> Vec<u64> {
        self.code.order.lock().clone()
    }

    /// The executable whose code is at a device address.
    #[must_use]
    pub fn executable_at(&self, address: u64) -> Option<(u64, Arc<LoadedCodeObject>)> {
        self.executables().into_iter().find_map(|handle| {
            let live = self.code.executables.get(handle)?;
            Some((handle, live.executable.loaded_at(address)?))
        })
    }

    /// The name of the kernel whose descriptor is at a device address, which is its kernel object.
    #[must_use]
    pub fn kernel_name(&self, object: u64) -> Option<String> {
        let (handle, _) = self.executable_at(object)?;
        let live = self.code.executables.get(handle)?;
        let symbols = live.executable.symbols();
        let kernel = symbols
            .iter()
            .find(|s| s.address() == object && matches!(s.kind(), SymbolKind::Kernel(_)))?;
        let name = kernel.name();
        Some(name.strip_suffix(DESCRIPTOR_SUFFIX).unwrap_or(name).to_owned())
    }

    /// A text with the kernel's name behind each address of a kernel descriptor.
    pub(crate) fn with_kernel_names(&self, text: &str) -> String {
        let mut named = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find("0x") {
            let digits = rest[at + 2..].bytes().take_while(u8::is_ascii_hexdigit).count();
            let end = at + 2 + digits;
            named.push_str(&rest[..end]);
            let object = u64::from_str_radix(&rest[at + 2..end], 16).ok();
            if let Some(name) = object.and_then(|object| self.kernel_name(object)) {
                named.push_str(" = ");
                named.push_str(&name);
            }
            rest = &rest[end..];
        }
        named + rest
    }

    /// Destroys an executable: its code is gone from memory, handles of its symbols are stale.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidExecutable`] for any other handle.
    pub fn destroy_executable(&self, executable: u64) -> Result<()> {
        self.code
            .remove_executable(executable)
            .ok_or(Error::InvalidExecutable)?;
        self.code.order.lock().retain(|&handle| handle != executable);
        Ok(())
    }

    /// Loads a code object for an agent, by index. Answers the loaded code object's handle.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidExecutable`], [`Error::FrozenExecutable`], what is wrong with the code object, and
    /// [`Error::IncompatibleCode`], which is said on stderr too, because programs rarely show why.
    pub fn load(self: &Arc<Self>, executable: u64, agent: usize, reader: &CodeObjectReader) -> Result<u64> {
        let placement = placement::of_runtime(self);
        self.load_with(executable, agent, reader, &placement)
    }

    /// Loads a code object for an agent at an address where the program has mapped memory for it.
    ///
    /// # Errors
    ///
    /// As [`Self::load`], and [`Error::InvalidArgument`] when it does not fit.
    pub fn load_at(
        self: &Arc<Self>,
        executable: u64,
        agent: usize,
        reader: &CodeObjectReader,
        address: u64,
        bytes: u64,
    ) -> Result<u64> {
        let layout = reader.parse()?.layout();
        if layout.size > bytes || !address.is_multiple_of(layout.align) {
            return Err(Error::InvalidArgument("the code object does not fit there"));
        }
        let placement = placement::at_address(self, address, bytes);
        self.load_with(executable, agent, reader, &placement)
    }

    fn load_with(
        &self,
        executable: u64,
        agent: usize,
        reader: &CodeObjectReader,
        placement: &Arc<dyn crate::loader::Placement>,
    ) -> Result<u64> {
        let live = self.executable(executable)?;
        let target = LoadTarget {
            agent: agent_key(agent),
            isas: &self.agents[agent].isas,
            placement,
        };
        let loaded = live.executable.load_agent_code_object(reader, target);
        if let Err(ExecutableError::Load(LoadError::Isa(difference))) = &loaded {
            eprintln!("hansa: {difference}");
        } else if let Err(error) = &loaded {
            log::line(Topic::Error, format_args!("loader: {error}"));
        }
        self.loaded_handle(executable, &live, &loaded?)
    }

    fn loaded_handle(
        &self,
        executable: u64,
        live: &LiveExecutable,
        object: &Arc<LoadedCodeObject>,
    ) -> Result<u64> {
        let key = Arc::as_ptr(object).addr();
        remembered(&live.loaded, key, || {
            let loaded = Loaded {
                executable,
                object: Arc::clone(object),
            };
            self.code.loaded.insert(Arc::new(loaded))
        })
    }

    /// The code objects loaded into an executable, in the order of loading.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidExecutable`] for any other handle.
    pub fn loaded_code_objects(&self, executable: u64) -> Result<Vec<u64>> {
        let live = self.executable(executable)?;
        let objects = live.executable.loaded_code_objects();
        objects
            .iter()
            .map(|object| self.loaded_handle(executable, &live, object))
            .collect()
    }

    /// The loaded code object behind a handle.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidCodeObject`] for any other handle.
    pub fn loaded_code_object(&self, loaded: u64) -> Result<Arc<Loaded>> {
        self.code
            .loaded
            .get(loaded)
            .ok_or_else(|| Error::InvalidCodeObject("not a loaded code object".to_owned()))
    }

    /// The handle of a symbol of an executable.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfResources`] when there are too many.
    pub fn symbol_handle(&self, executable: u64, live: &LiveExecutable, symbol: &Arc<Symbol>) -> Result<u64> {
        if let Some(&handle) = symbol.handle.get() {
            return Ok(handle);
        }
        let mut given = live.symbols.lock();
        if let Some(&handle) = symbol.handle.get() {
            return Ok(handle);
        }
        let of_executable = ExecutableSymbol {
            executable,
            symbol: Arc::clone(symbol),
        };
        let handle = self
            .code
            .symbols
            .insert(Arc::new(of_executable))
            .ok_or_else(full)?;
        given.push(handle);
        Ok(*symbol.handle.get_or_init(|| handle))
    }

    /// The symbol behind a handle.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidExecutableSymbol`] for any other handle, and for one of an executable that is gone.
    pub fn symbol(&self, symbol: u64) -> Result<Arc<ExecutableSymbol>> {
        self.code
            .symbols
            .get(symbol)
            .ok_or(Error::InvalidExecutableSymbol)
    }
}

/// The handle that is remembered for a key, made if there is none.
fn remembered(
    known: &Mutex<HashMap<usize, u64>>,
    key: usize,
    make: impl FnOnce() -> Option<u64>,
) -> Result<u64> {
    let mut known = known.lock();
    if let Some(&handle) = known.get(&key) {
        return Ok(handle);
    }
    let handle = make().ok_or_else(full)?;
    known.insert(key, handle);
    Ok(handle)
}
