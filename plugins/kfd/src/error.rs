//! What can go wrong between the driver and the kernel.

use hansa_plugin_api as api;
use hansa_plugin_api::sys::Errno;
use std::path::PathBuf;

/// An error of this driver.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The kernel refused an ioctl.
    #[error("{request} failed")]
    Ioctl {
        /// The kernel's name of the request.
        request: &'static str,
        /// Why.
        errno: Errno,
        /// The device node.
        place: String,
    },
    /// A file could not be opened.
    #[error("Cannot open{because}")]
    Open {
        /// The file.
        path: PathBuf,
        /// Why.
        errno: Errno,
        /// What is probably the matter.
        because: &'static str,
    },
    /// A file could not be read.
    #[error("Cannot read")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        errno: Errno,
    },
    /// A file does not say what it should.
    #[error("{what}")]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// An address range could not be mapped.
    #[error("Cannot map {bytes:#x} bytes of {what}")]
    Map {
        /// Of what.
        what: &'static str,
        /// Bytes.
        bytes: u64,
        /// Why.
        errno: Errno,
    },
    /// The kernel's interface is of another major version.
    #[error("The kernel speaks interface {major}.{minor}, the driver 1")]
    Version {
        /// Its major number.
        major: u32,
        /// Its minor number.
        minor: u32,
    },
    /// The kernel is too old for this call.
    #[error("{request} needs interface 1.{needed}, the kernel has 1.{has}")]
    TooOld {
        /// The request.
        request: &'static str,
        /// What it needs.
        needed: u32,
        /// What there is.
        has: u32,
    },
    /// The kernel does not have this call.
    #[error("This kernel has no {request}")]
    Missing {
        /// The request.
        request: &'static str,
    },
    /// The kernel answered what cannot be.
    #[error("The kernel answered {request} with {what}")]
    Nonsense {
        /// The request.
        request: &'static str,
        /// What it said.
        what: String,
    },
    /// Nothing that this driver could drive.
    #[error("{0}")]
    NoDevice(String),
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

impl Error {
    /// The system's number, if there is one.
    #[must_use]
    pub const fn errno(&self) -> Option<Errno> {
        match self {
            Self::Ioctl { errno, .. }
            | Self::Open { errno, .. }
            | Self::Read { errno, .. }
            | Self::Map { errno, .. } => Some(*errno),
            _ => None,
        }
    }
}

impl From<Error> for api::Error {
    fn from(error: Error) -> Self {
        let message = error.to_string();
        match &error {
            Error::Ioctl { errno, place, .. } => Self::os(errno.raw_os_error(), message, place.clone()),
            Error::Open { path, errno, .. } => {
                let mut made = Self::os(errno.raw_os_error(), message, path.display().to_string());
                if matches!(*errno, Errno::NOENT | Errno::NODEV | Errno::NXIO) {
                    made.code = api::ErrorCode::NO_DEVICE;
                }
                made
            }
            Error::Read { path, errno } => {
                Self::os(errno.raw_os_error(), message, path.display().to_string())
            }
            Error::Map { errno, .. } => Self::os(errno.raw_os_error(), message, ""),
            Error::Malformed { path, .. } => {
                Self::new(api::ErrorCode::FAILED, message).at(path.display().to_string())
            }
            Error::Version { .. } => Self::new(api::ErrorCode::WRONG_VERSION, message).at(crate::DEVICE),
            Error::TooOld { .. } | Error::Missing { .. } => Self::new(api::ErrorCode::NOT_SUPPORTED, message),
            Error::Nonsense { .. } => Self::new(api::ErrorCode::FAILED, message).at(crate::DEVICE),
            Error::NoDevice(_) => Self::new(api::ErrorCode::NO_DEVICE, message),
            Error::Argument(_) => Self::new(api::ErrorCode::INVALID_ARGUMENT, message),
            Error::Handle(_) => Self::new(api::ErrorCode::INVALID_HANDLE, message),
            Error::NotOpen => Self::new(api::ErrorCode::FAILED, message),
            Error::Forked => Self::new(api::ErrorCode::DEVICE_LOST, message),
        }
    }
}

/// What an errno of opening `/dev/kfd` usually comes from.
#[must_use]
pub const fn likely_cause(errno: Errno) -> &'static str {
    match errno {
        Errno::NOENT => ": the kernel module amdgpu is not loaded or has no compute support",
        Errno::ACCESS => ": the user is not in the group of the device (usually render or video)",
        Errno::PERM => {
            ": a device cgroup or a security module forbids it (in a container, pass the device in)"
        }
        Errno::NXIO | Errno::NODEV => ": the node is there and no driver is behind it",
        Errno::NOMEM => ": the kernel has no memory for this process",
        Errno::FAULT | Errno::INVAL => {
            ": the kernel refuses this process (a 32-bit process, or a driver that failed to start)"
        }
        Errno::MFILE | Errno::NFILE => ": too many open files",
        Errno::BUSY => ": another process holds it",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every kind of error, the code that the runtime sees, and the words that a person looks for.
    #[test]
    fn each_error_has_its_code_and_its_words() {
        let rows = [
            (
                Error::Ioctl {
                    request: "CREATE_QUEUE",
                    errno: Errno::NOMEM,
                    place: "/dev/kfd".into(),
                },
                api::ErrorCode::OUT_OF_RESOURCES,
                "CREATE_QUEUE failed at /dev/kfd: Cannot allocate memory (os error 12)",
            ),
            (
                Error::Open {
                    path: "/dev/kfd".into(),
                    errno: Errno::ACCESS,
                    because: likely_cause(Errno::ACCESS),
                },
                api::ErrorCode::PERMISSION,
                "Cannot open: the user is not in the group of the device (usually render or video) at /dev/kfd: \
                 Permission denied (os error 13)",
            ),
            (
                Error::Open {
                    path: "/dev/kfd".into(),
                    errno: Errno::NOENT,
                    because: likely_cause(Errno::NOENT),
                },
                api::ErrorCode::NO_DEVICE,
                "Cannot open: the kernel module amdgpu is not loaded or has no compute support at /dev/kfd: \
                 No such file or directory (os error 2)",
            ),
            (
                Error::Version { major: 2, minor: 0 },
                api::ErrorCode::WRONG_VERSION,
                "The kernel speaks interface 2.0, the driver 1 at /dev/kfd",
            ),
            (
                Error::TooOld {
                    request: "EXPORT_DMABUF",
                    needed: 12,
                    has: 8,
                },
                api::ErrorCode::NOT_SUPPORTED,
                "EXPORT_DMABUF needs interface 1.12, the kernel has 1.8",
            ),
            (
                Error::Handle("an allocation"),
                api::ErrorCode::INVALID_HANDLE,
                "Not an allocation of this driver",
            ),
            (
                Error::Forked,
                api::ErrorCode::DEVICE_LOST,
                "The device belongs to the parent process",
            ),
        ];
        for (error, code, text) in rows {
            let made = api::Error::from(error);
            assert_eq!(made.code, code, "{made}");
            assert_eq!(made.to_string(), text);
        }
    }
}
