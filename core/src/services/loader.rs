//! Code objects and executables.

use super::Group;
use hansa_plugin_api as api;

#[derive(Debug)]
#[expect(dead_code, reason = "the group of the services that follow")]
pub(super) struct Loader(pub(super) Group);

impl api::LoaderServices for Loader {}
