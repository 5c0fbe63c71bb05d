//! End-to-end tests: C clients, virtual kernel devices, plugins.

pub mod artifacts;
pub mod c_client;
pub mod c_type;
pub mod command;
pub mod hip_client;
pub mod hsa_client;
pub mod kernels;
pub mod oracle;
pub mod side;
pub mod tool_client;
