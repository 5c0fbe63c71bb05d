//! Handing signals and memory to other processes.
//!
//! A program passes a name of eight words to another process by means of its own. The name says where the process
//! that gave it can be asked (a random number, from which the name of an abstract Unix socket is made) and what for
//! (another random number). The one that asks gets a description and, where there is one, a file descriptor. Both
//! numbers are secrets: who does not have the name gets nothing, and neither does another user.
//!
//! Nothing of this outlives the processes: an abstract socket and a memory file end with the last one that has them,
//! however it ends. The thread that answers starts with the first name and ends with the runtime; names are stale
//! from then on, and so they are when what they name is destroyed by the process that gave them.

mod client;
mod exchange;
mod memory_file;
mod offer;

pub use client::ask;
pub(crate) use exchange::after_fork;
pub use exchange::{Exchange, Export};
pub use memory_file::MemoryFile;
pub use offer::{Name, Offer, Thing};

/// How long either side waits for the other.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(5);

/// The name of the socket of a process that answers to `server`.
fn socket_name(server: u64) -> String {
    format!("hansa-ipc-{server:016x}")
}
