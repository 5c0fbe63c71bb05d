//! The HSA machine model: agents, memory, signals, queues, executables, plugins

pub mod config;

pub mod loader;
