//! What core says when something cannot be done. The C edge maps each variant to an `hsa_status_t` in one
//! exhaustive match (`capi/src/status.rs`).

use hansa_plugin_api as api;

/// Result of core's operations.
pub type Result<T> = std::result::Result<T, Error>;

/// Why core did not do something.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no runtime: before the first init, after the last shut-down, or in a forked child.
    #[error("The runtime is not initialized")]
    NotInitialized,
    /// The runtime's reference count is at its end.
    #[error("The runtime's reference count would overflow")]
    RefCountOverflow,
    /// An argument is outside what the function takes.
    #[error("Invalid argument: {0}")]
    InvalidArgument(&'static str),
    /// Two arguments do not go together.
    #[error("Incompatible arguments: {0}")]
    IncompatibleArguments(&'static str),
    /// Not an agent of this runtime.
    #[error("Invalid agent")]
    InvalidAgent,
    /// Not a region of this runtime.
    #[error("Invalid region")]
    InvalidRegion,
    /// Not a memory pool of this runtime.
    #[error("Invalid memory pool")]
    InvalidMemoryPool,
    /// Not a live signal.
    #[error("Invalid signal")]
    InvalidSignal,
    /// Not a live signal group.
    #[error("Invalid signal group")]
    InvalidSignalGroup,
    /// Not a live queue.
    #[error("Invalid queue")]
    InvalidQueue,
    /// The agent has no queues of this kind.
    #[error("Invalid queue creation: {0}")]
    InvalidQueueCreation(&'static str),
    /// Past the end of what is indexed.
    #[error("Invalid index")]
    InvalidIndex,
    /// Not an ISA of this runtime.
    #[error("Invalid instruction set")]
    InvalidIsa,
    /// Not the name of an ISA.
    #[error("Invalid instruction set name")]
    InvalidIsaName,
    /// Not a cache of this runtime.
    #[error("Invalid cache")]
    InvalidCache,
    /// Not a wavefront of this runtime.
    #[error("Invalid wavefront")]
    InvalidWavefront,
    /// Memory cannot be had here, or a pointer is not an allocation.
    #[error("Invalid allocation: {0}")]
    InvalidAllocation(&'static str),
    /// Memory, queues, events or threads ran out.
    #[error("Out of resources: {0}")]
    OutOfResources(&'static str),
    /// Not a live executable.
    #[error("Invalid executable")]
    InvalidExecutable,
    /// Not a symbol of a live executable.
    #[error("Invalid executable symbol")]
    InvalidExecutableSymbol,
    /// Not a live code object reader.
    #[error("Invalid code object reader")]
    InvalidCodeObjectReader,
    /// Not a live code object, or a broken one.
    #[error("Invalid code object: {0}")]
    InvalidCodeObject(String),
    /// Not a symbol of a live code object.
    #[error("Invalid code object symbol")]
    InvalidCodeSymbol,
    /// Not a file that can be read.
    #[error("Invalid file")]
    InvalidFile,
    /// No symbol of that name.
    #[error("Invalid symbol name")]
    InvalidSymbolName,
    /// A variable has a definition already.
    #[error("Variable {0} is already defined")]
    VariableAlreadyDefined(String),
    /// A variable has no definition.
    #[error("Variable {0} is not defined")]
    VariableUndefined(String),
    /// The executable is frozen and the call needs one that is not.
    #[error("The executable is frozen")]
    FrozenExecutable,
    /// The code is for another instruction set than the agent's.
    #[error("{0}")]
    IncompatibleCode(String),
    /// The runtime or the driver has no such thing.
    #[error("Not supported: {0}")]
    NotSupported(&'static str),
    /// An exception that no other variant names.
    #[error("{0}")]
    Failed(&'static str),
    /// Something is still held, or cannot be given back.
    #[error("Cannot be freed: {0}")]
    ResourceFree(&'static str),
    /// No device repeats accesses that fault (XNACK).
    #[error("No device repeats accesses that fault")]
    XnackDisabled,
    /// A resource is in use.
    #[error("Resource busy: {0}")]
    Busy(&'static str),
    /// A driver, or another plugin, said no.
    #[error("{0}")]
    Driver(#[from] api::Error),
    /// No plugin that must be there could be loaded.
    #[error("{0}")]
    Plugins(String),
    /// A callback of the program stopped an iteration with this status.
    #[error("The callback returned {0:#x}")]
    Callback(u32),
}
