//! AMD GPUs inside a virtual machine, through virtio-gpu.
//!
//! The machine's host drives the GPUs with its own `/dev/kfd`, for a process of its own that stands for the guest's. The
//! guest sends it commands through a context of virtio-gpu (capability set 8, `HSAKMT`): each is a message in a command
//! buffer, and its answer is written to memory that both share. What a command makes becomes a resource of the guest's
//! kernel under a number that the guest chose beforehand; from then on it is mapped and closed as any resource.
//!
//! Guest, host and devices have the same addresses for all memory that the host allocates: the host names a range when it
//! is opened, the guest keeps it free, and the host chooses places inside it. Memory that the guest's process has otherwise
//! is elsewhere for devices, so the runtime takes its host memory from here
//! ([`DriverGroups::HOST_MEMORY`](hansa_plugin_api::DriverGroups::HOST_MEMORY)).
//!
//! | module | what it is |
//! |---|---|
//! | [`uapi`] | the requests of the guest's kernel |
//! | [`wire`] | the messages |
//! | [`discover`] | which render nodes lead to such a host, and why others do not |
//! | [`transport`] | sending a message and judging the answer |
//! | [`context`], [`window`] | what is open: the connection, resources, the range of addresses |
//! | [`topology`] | the host's nodes, in the words of its kernel |
//! | [`machine`] | the open driver |
//! | [`memory`], [`user_memory`], [`scratch`] | what devices see |
//! | [`queue`], [`event`] | queues, doorbells and events |
//! | [`driver`], [`plugin`] | the contract's side |
//!
//! # What the protocol does not have
//!
//! Copy engines (kernels copy instead), cooperative queues, changes of queues, virtual memory, sharing between processes,
//! shared virtual memory, and everything that comes from a device by itself: faults and exceptions reach the guest through
//! the inactive signal of a queue, if at all.
//!
//! # Who checks what
//!
//! As in [`hansa_kfd`], whose chips and descriptions are used here; and an answer of the host is believed no more than
//! one of a file: lengths, addresses and numbers are judged before they are used.

pub mod context;
pub mod discover;
pub mod driver;
pub mod error;
pub mod event;
pub mod machine;
pub mod memory;
pub mod plugin;
pub mod queue;
pub mod scratch;
pub mod topology;
pub mod transport;
pub mod uapi;
pub mod user_memory;
pub mod window;
pub mod wire;

pub use driver::KfdVirtioDriver;
pub use plugin::KfdVirtioPlugin;
