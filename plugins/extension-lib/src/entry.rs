//! The way into every function: the extension that serves, panics and statuses.

use crate::call::{Call, Promise};
use crate::outcome::{Failure, Outcome};
use crate::serving::{Serves, Serving};
use hansa_plugin_api::hsa::hsa_status_t;
use hansa_plugin_api::LogLevel;
use std::panic::{catch_unwind, AssertUnwindSafe};

fn current<S: Serves + Clone>(serving: &Serving<S>) -> Outcome<S> {
    match serving.last() {
        Some(served) if served.runtime().is_running()? => Ok(served),
        _ => Err(hsa_status_t::ERROR_NOT_INITIALIZED.into()),
    }
}

/// Runs the body of a function. A panic is an error with a line in the log.
pub fn evaluate<S: Serves + Clone, T>(
    serving: &Serving<S>,
    name: &str,
    promise: Promise,
    body: impl FnOnce(&Call<S>) -> Outcome<T>,
) -> Result<T, hsa_status_t> {
    let call = match catch_unwind(AssertUnwindSafe(|| current(serving))) {
        Ok(Ok(served)) => Call::new(served, promise),
        Ok(Err(failure)) => return Err(failure.status()),
        Err(_) => return Err(hsa_status_t::ERROR),
    };
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
pub fn run<S: Serves + Clone>(
    serving: &Serving<S>,
    name: &str,
    promise: Promise,
    body: impl FnOnce(&Call<S>) -> Outcome,
) -> hsa_status_t {
    match evaluate(serving, name, promise, body) {
        Ok(()) => hsa_status_t::SUCCESS,
        Err(status) => status,
    }
}

/// Declares C functions that answer a status, served by the [`Serving`] in brackets. The name before the semicolon is
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
