//! The way into every function: services, panics and statuses.

use crate::args::{Call, Promise};
use hansa_plugin_api::hsa::hsa_status_t;
use hansa_plugin_api::{
    CopyServicesRef, Error, ErrorCode, HostRef, LoaderServicesRef, LogLevel, MemoryServicesRef,
    QueueServicesRef, RStr, RuntimeServicesRef, SharingServicesRef, SignalServicesRef,
};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::{PoisonError, RwLock};

/// Why a function does not answer success.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Its own check, or a program's callback, said so.
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
            ErrorCode::NOT_SUPPORTED => hsa_status_t::ERROR_NOT_SUPPORTED,
            ErrorCode::INVALID_ARGUMENT | ErrorCode::INVALID_HANDLE => hsa_status_t::ERROR_INVALID_ARGUMENT,
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

/// The runtime as this extension sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Services {
    host: HostRef<'static>,
    runtime: RuntimeServicesRef<'static>,
    memory: Option<MemoryServicesRef<'static>>,
    sharing: Option<SharingServicesRef<'static>>,
    signals: Option<SignalServicesRef<'static>>,
    copies: Option<CopyServicesRef<'static>>,
    queues: Option<QueueServicesRef<'static>>,
    loader: Option<LoaderServicesRef<'static>>,
}

/// A group that the runtime may lack.
macro_rules! groups {
    ($($group:ident: $Ref:ident),* $(,)?) => {
        $(
            #[doc = concat!("The group `", stringify!($group), "`.")]
            pub(crate) fn $group(&self) -> Outcome<$Ref<'static>> {
                self.$group.ok_or_else(|| Failure::Service(Error::not_supported(concat!("RuntimeServices::", stringify!($group)))))
            }
        )*
    };
}

impl Services {
    /// Asks the runtime for its groups once.
    pub(crate) fn new(host: HostRef<'static>, runtime: RuntimeServicesRef<'static>) -> Self {
        Self {
            host,
            runtime,
            memory: runtime.memory().ok(),
            sharing: runtime.sharing().ok(),
            signals: runtime.signals().ok(),
            copies: runtime.copies().ok(),
            queues: runtime.queues().ok(),
            loader: runtime.loader().ok(),
        }
    }

    /// The services that are in no group.
    pub(crate) fn runtime(&self) -> RuntimeServicesRef<'static> {
        self.runtime
    }

    groups! {
        memory: MemoryServicesRef,
        sharing: SharingServicesRef,
        signals: SignalServicesRef,
        copies: CopyServicesRef,
        queues: QueueServicesRef,
        loader: LoaderServicesRef,
    }

    fn log(&self, level: LogLevel, message: &str) {
        // A log that cannot be written changes nothing for the program.
        let _ = self.host.log(level, RStr::from(message));
    }
}

/// The functions have no object to hang services on: the extension that was made last, and still lives, serves them.
static EXTENSIONS: RwLock<Vec<(u64, Services)>> = RwLock::new(Vec::new());

/// Adds the services of an extension.
pub(crate) fn install(extension: u64, services: Services) {
    let mut extensions = EXTENSIONS.write().unwrap_or_else(PoisonError::into_inner);
    extensions.push((extension, services));
}

/// Takes the services of an extension away.
pub(crate) fn remove(extension: u64) {
    let mut extensions = EXTENSIONS.write().unwrap_or_else(PoisonError::into_inner);
    extensions.retain(|(id, _)| *id != extension);
}

fn current() -> Outcome<Services> {
    let last = EXTENSIONS
        .read()
        .unwrap_or_else(PoisonError::into_inner)
        .last()
        .copied();
    match last {
        Some((_, services)) if services.runtime.is_running()? => Ok(services),
        _ => Err(hsa_status_t::ERROR_NOT_INITIALIZED.into()),
    }
}

/// Runs the body of a function. A panic is an error with a line in the log.
pub(crate) fn evaluate<T>(
    name: &str,
    promise: Promise,
    body: impl FnOnce(&Call) -> Outcome<T>,
) -> Result<T, hsa_status_t> {
    let services = match catch_unwind(current) {
        Ok(Ok(services)) => services,
        Ok(Err(failure)) => return Err(failure.status()),
        Err(_) => return Err(hsa_status_t::ERROR),
    };
    match catch_unwind(AssertUnwindSafe(|| body(&Call::new(services, promise)))) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(failure)) => {
            if let Failure::Service(error) = &failure {
                services.log(LogLevel::DEBUG, &format!("{name}: {error}"));
            }
            Err(failure.status())
        }
        Err(payload) => {
            let text = hansa_plugin_api::export::panic_text(payload.as_ref());
            services.log(LogLevel::ERROR, &format!("{name}: panic: {text}"));
            Err(hsa_status_t::ERROR)
        }
    }
}

/// Runs the body of a function that answers a status.
pub(crate) fn run(name: &str, promise: Promise, body: impl FnOnce(&Call) -> Outcome) -> hsa_status_t {
    match evaluate(name, promise, body) {
        Ok(()) => hsa_status_t::SUCCESS,
        Err(status) => status,
    }
}

/// Declares C functions that answer a status. The name before the semicolon is the call in the body.
macro_rules! entries {
    ($(
        $(#[$meta:meta])*
        fn $name:ident($call:ident $(; $($arg:ident: $Arg:ty),+ $(,)?)?) $body:block
    )*) => {
        $(
            $(#[$meta])*
            pub(crate) unsafe extern "C" fn $name($($($arg: $Arg),+)?) -> hansa_plugin_api::hsa::hsa_status_t {
                // SAFETY: the C contract of this function, by which its caller vouches for the pointers.
                let promise = unsafe { $crate::args::Promise::by_the_c_contract() };
                $crate::entry::run(stringify!($name), promise, |$call: &$crate::args::Call| $body)
            }
        )*
    };
}
pub(crate) use entries;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_error_has_its_status() {
        for (error, status) in [
            (Error::status(0x1004, ""), hsa_status_t::ERROR_INVALID_AGENT),
            (Error::status(0, ""), hsa_status_t::ERROR),
            (Error::not_supported("x"), hsa_status_t::ERROR_NOT_SUPPORTED),
            (
                Error::new(ErrorCode::INVALID_ARGUMENT, ""),
                hsa_status_t::ERROR_INVALID_ARGUMENT,
            ),
            (
                Error::new(ErrorCode::INVALID_HANDLE, ""),
                hsa_status_t::ERROR_INVALID_ARGUMENT,
            ),
            (
                Error::new(ErrorCode::OUT_OF_RESOURCES, ""),
                hsa_status_t::ERROR_OUT_OF_RESOURCES,
            ),
            (Error::new(ErrorCode::PANIC, ""), hsa_status_t::ERROR),
            (Error::new(ErrorCode(4711), ""), hsa_status_t::ERROR),
        ] {
            assert_eq!(Failure::from(error.clone()).status(), status, "{error:?}");
        }
    }
}
