//! Memory and signals across processes.

use super::Group;
use crate::error::{Error, Result};
use crate::runtime::Runtime;
use crate::signal::block::flag;
use crate::signal::Block;
use hansa_plugin_api as api;

#[derive(Debug)]
#[expect(dead_code, reason = "the group of the services that follow")]
pub(super) struct Sharing(pub(super) Group);

impl api::SharingServices for Sharing {}

/// Names a signal for other processes.
pub(super) fn export_signal(_runtime: &Runtime, block: &Block) -> Result<api::IpcName> {
    if !block.has(flag::IPC) {
        return Err(Error::InvalidArgument(
            "the signal was not made for other processes",
        ));
    }
    Err(Error::NotSupported("signals across processes"))
}

/// Attaches another process's signal.
pub(super) fn attach_signal(_runtime: &Runtime, name: api::IpcName) -> Result<u64> {
    if name.words.iter().all(|&word| word == 0) {
        return Err(Error::InvalidArgument("not the name of a signal"));
    }
    Err(Error::NotSupported("signals across processes"))
}
