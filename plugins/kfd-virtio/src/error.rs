//! What can go wrong between the driver, the guest's kernel and the host.

use hansa_kfd::error::Error as SystemError;
use hansa_plugin_api as api;
use hansa_plugin_api::sys::Errno;

/// An error of this driver.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The guest's kernel refused.
    #[error(transparent)]
    System(#[from] SystemError),
    /// The host refused a command.
    #[error("The host refused {request}: {}", words(*status))]
    Refused {
        /// The command.
        request: &'static str,
        /// Its answer: an errno below 0, a status of the host's library above.
        status: i32,
    },
    /// The host, or the guest's kernel, answered what cannot be.
    #[error("{request} was answered with {what}")]
    Nonsense {
        /// The command.
        request: &'static str,
        /// What it said.
        what: String,
    },
    /// The host answers no more.
    #[error("The connection to the host is lost: {0}")]
    Lost(String),
    /// Nothing that this driver could drive.
    #[error("{0}")]
    NoDevice(String),
    /// Devices would see memory at another address than the program.
    #[error(
        "Devices see the memory at {address:#x} only at {seen:#x}; they share addresses with the host for memory that \
         the driver gave"
    )]
    Elsewhere {
        /// Where the program has it.
        address: u64,
        /// Where devices see it.
        seen: u64,
    },
    /// Memory of the program that devices cannot see.
    #[error("Devices do not see memory of the program: this guest's kernel makes no resources of it")]
    Unseen,
    /// Something that the protocol has no command for.
    #[error("{0} cannot be done over virtio-gpu")]
    Missing(&'static str),
    /// An argument that this driver cannot take.
    #[error("{0}")]
    Argument(String),
    /// A handle that this driver did not give out.
    #[error("Not {0} of this driver")]
    Handle(&'static str),
    /// The driver is not open, or was closed.
    #[error("The driver is not open")]
    NotOpen,
    /// The process is a child of the one that opened the driver.
    #[error("The device belongs to the parent process")]
    Forked,
}

/// What functions of this driver return.
pub type Result<T> = std::result::Result<T, Error>;

/// Statuses of the host's library (`hsakmttypes.h`) that mean more than that it did not work.
pub mod status {
    /// An argument.
    pub const INVALID_PARAMETER: i32 = 3;
    /// A handle.
    pub const INVALID_HANDLE: i32 = 4;
    /// A node.
    pub const INVALID_NODE: i32 = 5;
    /// No memory.
    pub const NO_MEMORY: i32 = 6;
    /// Not there.
    pub const NOT_IMPLEMENTED: i32 = 10;
    /// Not on this node.
    pub const NOT_SUPPORTED: i32 = 11;
    /// Something else ran out.
    pub const OUT_OF_RESOURCES: i32 = 13;
    /// An event was not raised in time.
    pub const WAIT_TIMEOUT: i32 = 31;
    /// An address that is not aligned.
    pub const MEMORY_ALIGNMENT: i32 = 37;
}

fn words(answer: i32) -> String {
    if answer < 0 {
        return std::io::Error::from_raw_os_error(answer.saturating_neg()).to_string();
    }
    let text = match answer {
        status::INVALID_PARAMETER => "an argument is invalid",
        status::INVALID_HANDLE => "a handle is invalid",
        status::INVALID_NODE => "the node is invalid",
        status::NO_MEMORY => "no memory",
        status::NOT_IMPLEMENTED => "not implemented",
        status::NOT_SUPPORTED => "not supported",
        status::OUT_OF_RESOURCES => "out of resources",
        status::MEMORY_ALIGNMENT => "an address is not aligned",
        _ => return format!("status {answer}"),
    };
    format!("{text} (status {answer})")
}

impl Error {
    /// The kind of a refusal.
    fn refusal(status: i32) -> api::ErrorCode {
        match status {
            ..0 => api::Error::os(status.saturating_neg(), "", "").code,
            status::INVALID_PARAMETER | status::INVALID_NODE | status::MEMORY_ALIGNMENT => {
                api::ErrorCode::INVALID_ARGUMENT
            }
            status::INVALID_HANDLE => api::ErrorCode::INVALID_HANDLE,
            status::NO_MEMORY | status::OUT_OF_RESOURCES => api::ErrorCode::OUT_OF_RESOURCES,
            status::NOT_IMPLEMENTED | status::NOT_SUPPORTED => api::ErrorCode::NOT_SUPPORTED,
            _ => api::ErrorCode::FAILED,
        }
    }

    /// The guest's kernel has no such call, or not with these arguments.
    #[must_use]
    pub fn is_unknown_to_the_kernel(&self) -> bool {
        matches!(self, Self::System(error)
            if matches!(error.errno(), Some(Errno::INVAL | Errno::NOTTY | Errno::OPNOTSUPP | Errno::NOSYS)))
    }
}

impl From<Error> for api::Error {
    fn from(error: Error) -> Self {
        let message = error.to_string();
        let code = match error {
            Error::System(error) => return error.into(),
            Error::Refused { status, .. } => {
                let mut made = Self::new(Error::refusal(status), message);
                made.errno = status.min(0).saturating_neg();
                return made;
            }
            Error::Nonsense { .. } | Error::NotOpen | Error::Elsewhere { .. } | Error::Unseen => {
                api::ErrorCode::FAILED
            }
            Error::Lost(_) | Error::Forked => api::ErrorCode::DEVICE_LOST,
            Error::NoDevice(_) => api::ErrorCode::NO_DEVICE,
            Error::Missing(_) => api::ErrorCode::NOT_SUPPORTED,
            Error::Argument(_) => api::ErrorCode::INVALID_ARGUMENT,
            Error::Handle(_) => api::ErrorCode::INVALID_HANDLE,
        };
        Self::new(code, message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_refusal_has_its_code_and_its_words() {
        let rows = [
            (-12, api::ErrorCode::OUT_OF_RESOURCES, "Cannot allocate memory"),
            (-22, api::ErrorCode::INVALID_ARGUMENT, "Invalid argument"),
            (6, api::ErrorCode::OUT_OF_RESOURCES, "no memory (status 6)"),
            (11, api::ErrorCode::NOT_SUPPORTED, "not supported (status 11)"),
            (1, api::ErrorCode::FAILED, "status 1"),
        ];
        for (status, code, text) in rows {
            let made = api::Error::from(Error::Refused {
                request: "MEMORY_ALLOC",
                status,
            });
            assert_eq!(made.code, code, "{made}");
            assert!(
                made.message
                    .starts_with(&format!("The host refused MEMORY_ALLOC: {text}")),
                "{made}"
            );
        }
    }
}
