//! Which extension serves the functions, and what all of them check first.

use crate::module::Module;
pub(crate) use hansa_extension_lib::outcome::{argument, ensure, Failure, Outcome};
use hansa_extension_lib::serving::Serving;
use hansa_plugin_api::hsa::hsa_status_t;
use std::sync::Arc;

/// The running call of a function of this extension.
pub(crate) type Call = hansa_extension_lib::call::Call<Arc<Module>>;

/// The extensions that live.
pub(crate) static SERVING: Serving<Arc<Module>> = Serving::new();

/// Goes on unless an agent's handle is 0, which functions see before all else.
pub(crate) fn not_zero(agent: u64) -> Outcome {
    ensure(agent != 0, hsa_status_t::ERROR_INVALID_AGENT)
}

/// Declares the functions of this extension.
macro_rules! entries {
    ($($functions:tt)*) => { hansa_extension_lib::entries! { [$crate::entry::SERVING] $($functions)* } };
}
pub(crate) use entries;
