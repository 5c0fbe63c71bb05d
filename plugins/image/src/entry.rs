//! The way into every function: the extension that serves, panics and statuses.

use crate::args::Promise;
use crate::module::Module;
use hansa_plugin_api::hsa::hsa_status_t;
use hansa_plugin_api::{Error, ErrorCode, LogLevel};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::{Arc, PoisonError, RwLock};

/// Why a function does not answer success.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Its own check said so.
    Status(hsa_status_t),
    /// The runtime said so.
    Service(Error),
}

/// What the body of a function answers.
pub(crate) type Outcome<T = ()> = Result<T, Failure>;

impl From<hsa_status_t> for Failure {
    fn from(status: hsa_status_t) -> Self {
        Self::Status(status)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Service(error)
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Status(status) => Self::status(
                status.0,
                status.c_name().unwrap_or("A status of the image extension"),
            ),
            Failure::Service(error) => error,
        }
    }
}

impl Failure {
    /// The status that the program gets.
    pub(crate) fn status(&self) -> hsa_status_t {
        let error = match self {
            Self::Status(status) => return *status,
            Self::Service(error) => error,
        };
        match error.code {
            ErrorCode::STATUS if error.errno != 0 => {
                hsa_status_t(u32::from_ne_bytes(error.errno.to_ne_bytes()))
            }
            ErrorCode::OUT_OF_RESOURCES => hsa_status_t::ERROR_OUT_OF_RESOURCES,
            _ => hsa_status_t::ERROR,
        }
    }
}

/// Goes on if `condition` holds, and ends the function with `status` otherwise.
pub(crate) fn ensure(condition: bool, status: hsa_status_t) -> Outcome {
    if condition {
        Ok(())
    } else {
        Err(status.into())
    }
}

/// Goes on if `condition` holds, and ends the function with INVALID_ARGUMENT otherwise.
pub(crate) fn argument(condition: bool) -> Outcome {
    ensure(condition, hsa_status_t::ERROR_INVALID_ARGUMENT)
}

/// Goes on unless an agent's handle is 0, which functions see before all else.
pub(crate) fn not_zero(agent: u64) -> Outcome {
    ensure(agent != 0, hsa_status_t::ERROR_INVALID_AGENT)
}

/// The functions have no object to hang state on: the extension that was made last, and still lives, serves them.
static MODULES: RwLock<Vec<Arc<Module>>> = RwLock::new(Vec::new());

/// Adds an extension.
pub(crate) fn install(module: &Arc<Module>) {
    let mut modules = MODULES.write().unwrap_or_else(PoisonError::into_inner);
    modules.push(Arc::clone(module));
}

/// Takes an extension away.
pub(crate) fn remove(module: &Arc<Module>) {
    let mut modules = MODULES.write().unwrap_or_else(PoisonError::into_inner);
    modules.retain(|other| !Arc::ptr_eq(other, module));
}

fn current() -> Outcome<Arc<Module>> {
    let modules = MODULES.read().unwrap_or_else(PoisonError::into_inner);
    match modules.last().cloned() {
        Some(module) if module.is_running()? => Ok(module),
        _ => Err(hsa_status_t::ERROR_NOT_INITIALIZED.into()),
    }
}

/// Runs the body of a function. A panic is an error with a line in the log.
pub(crate) fn run(
    name: &str,
    promise: Promise,
    body: impl FnOnce(&Module, Promise) -> Outcome,
) -> hsa_status_t {
    let module = match catch_unwind(current) {
        Ok(Ok(module)) => module,
        Ok(Err(failure)) => return failure.status(),
        Err(_) => return hsa_status_t::ERROR,
    };
    match catch_unwind(AssertUnwindSafe(|| body(&module, promise))) {
        Ok(Ok(())) => hsa_status_t::SUCCESS,
        Ok(Err(failure)) => {
            if let Failure::Service(error) = &failure {
                module.log(LogLevel::DEBUG, &format!("{name}: {error}"));
            }
            failure.status()
        }
        Err(payload) => {
            let text = hansa_plugin_api::export::panic_text(payload.as_ref());
            module.log(LogLevel::ERROR, &format!("{name}: panic: {text}"));
            hsa_status_t::ERROR
        }
    }
}

/// Declares C functions that answer a status. The names before the semicolon are the extension and the promise.
macro_rules! entries {
    ($(
        $(#[$meta:meta])*
        fn $name:ident($module:ident, $promise:ident; $($arg:ident: $Arg:ty),+ $(,)?) $body:block
    )*) => {
        $(
            $(#[$meta])*
            pub(crate) unsafe extern "C" fn $name($($arg: $Arg),+) -> hansa_plugin_api::hsa::hsa_status_t {
                // SAFETY: the C contract of this function, by which its caller vouches for the pointers.
                let promise = unsafe { $crate::args::Promise::by_the_c_contract() };
                $crate::entry::run(stringify!($name), promise, |$module, $promise| $body)
            }
        )*
    };
}
pub(crate) use entries;
