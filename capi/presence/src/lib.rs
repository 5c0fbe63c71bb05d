//! What programs look up before they call `hsa_init`, for machines without AMD's kernel driver.
//!
//! ROCm's tools ask the system before they ask the runtime. `rocminfo` runs `lsmod | grep amdgpu` (newer ones read
//! `/sys/module/amdgpu/initstate`) and opens `/dev/kfd` for reading and writing; `rocm_agent_enumerator`, and through
//! it `hipcc`, lists `/sys/class/kfd/kfd/topology/nodes` and reads `gfx_target_version` from each node's `properties`.
//! Where there is no such driver they give up although a runtime that needs none would serve them.
//!
//! `hansa run` preloads this library where `/dev/kfd` does not exist, and puts the agents that the runtime has into
//! `HANSA_PRESENCE`. The library answers the look-ups above and nothing else:
//!
//! - It is no driver and does not look like one to anybody who asks more. `/dev/kfd` is an ordinary empty file in
//!   memory: every ioctl on it fails with `ENOTTY`, `stat` says that it is no device, and it is not listed in `/dev`.
//! - Without `HANSA_PRESENCE`, or where a real `/dev/kfd` exists, every function goes straight to the next library.
//! - On the way there nothing is allocated and no lock is taken: programs call these functions from signal handlers,
//!   from their own `malloc` and before any constructor has run.

mod content;
mod directory;
mod lookup;
mod next;
mod nodes;
mod open;
mod process;
mod status;
