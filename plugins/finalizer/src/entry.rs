//! Which extension serves the functions.

use crate::finalizer::Finalizer;
use hansa_extension_lib::serving::Serving;
use std::sync::Arc;

/// The running call of a function of this extension.
pub(crate) type Call = hansa_extension_lib::call::Call<Arc<Finalizer>>;

/// The extensions that live.
pub(crate) static SERVING: Serving<Arc<Finalizer>> = Serving::new();
