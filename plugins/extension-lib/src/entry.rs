//! The way into every function: the extension that serves, panics and statuses.

use crate::call::{Call, Promise};
use crate::outcome::{Failure, Outcome};
use crate::serving::{Serves, Source};
use hansa_plugin_api::hsa::hsa_status_t;
use hansa_plugin_api::LogLevel;
use std::panic::{catch_unwind, AssertUnwindSafe};

/// Runs the body of a function. A panic is an error with a line in the log.
pub fn evaluate<S: Source, T>(
    serving: &S,
    name: &str,
    promise: Promise,
    body: impl FnOnce(&Call<S::Served>) -> Outcome<T>,
) -> Result<T, hsa_status_t> {
    let Some(served) = serving.served() else {
        return Err(hsa_status_t::ERROR_NOT_INITIALIZED);
    };
    let call = Call::new(served, promise);
    match catch_unwind(AssertUnwindSafe(|| call.runtime().is_running())) {
        Ok(Ok(true)) => {}
        Ok(Ok(false)) => return Err(hsa_status_t::ERROR_NOT_INITIALIZED),
        Ok(Err(error)) => return Err(Failure::Service(error).status()),
        Err(_) => return Err(hsa_status_t::ERROR),
    }
    match catch_unwind(AssertUnwindSafe(|| body(&call))) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(failure)) => {
            if let Failure::Service(error) = &failure {
                call.log(LogLevel::DEBUG, &format!("{name}: {error}"));
            }
            Err(failure.status())
        }
        Err(payload) => {
            let text = hansa_plugin_api::export::panic_text(payload.as_ref());
            call.log(LogLevel::ERROR, &format!("{name}: panic: {text}"));
            Err(hsa_status_t::ERROR)
        }
    }
}

/// Runs the body of a function that answers a status.
pub fn run<S: Source>(
    serving: &S,
    name: &str,
    promise: Promise,
    body: impl FnOnce(&Call<S::Served>) -> Outcome,
) -> hsa_status_t {
    match evaluate(serving, name, promise, body) {
        Ok(()) => hsa_status_t::SUCCESS,
        Err(status) => status,
    }
}

/// Declares C functions that answer a status, served by the [`Source`] in brackets. The name before the semicolon is
/// the [`Call`] in the body.
#[macro_export]
macro_rules! entries {
    ([$serving:path] $(
        $(#[$meta:meta])*
        fn $name:ident($call:ident $(; $($arg:ident: $Arg:ty),+ $(,)?)?) $body:block
    )*) => {
        $(
            $(#[$meta])*
            pub(crate) unsafe extern "C" fn $name($($($arg: $Arg),+)?) -> hansa_plugin_api::hsa::hsa_status_t {
                // SAFETY: the C contract of this function, by which its caller vouches for the pointers.
                let promise = unsafe { $crate::call::Promise::by_the_c_contract() };
                $crate::entry::run(&$serving, stringify!($name), promise, |$call| $body)
            }
        )*
    };
}
