//! Memory across processes, drivers and addresses.

use super::Group;
use hansa_plugin_api as api;

#[derive(Debug)]
#[expect(dead_code, reason = "the group of the services that follow")]
pub(super) struct Sharing(pub(super) Group);

impl api::SharingServices for Sharing {}
