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
    /// The kernel answered what cannot be.
    #[error("The kernel answered {request} with {what}")]
    Nonsense {
        /// The request.
        request: &'static str,
        /// What it said.
        what: String,
    },
    /// The heap inside the device's address space is full.
    #[error("The device heap of {heap} bytes has no room for {bytes} more")]
    HeapFull {
        /// Bytes of the heap.
        heap: u64,
        /// Bytes that were asked for.
        bytes: u64,
    },
    /// Nothing that this driver could drive.
    #[error("{0}")]
    NoDevice(String),
    /// An argument that this driver cannot take.
    #[error("{0}")]
    Argument(String),
    /// Something that this kind of memory or device cannot do.
    #[error("{0}")]
    Unsupported(&'static str),
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
            Self::Ioctl { errno, .. } | Self::Open { errno, .. } | Self::Map { errno, .. } => Some(*errno),
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
                if made.code != api::ErrorCode::PERMISSION && made.code != api::ErrorCode::OUT_OF_RESOURCES {
                    // A node that cannot be opened is no device for this process, and nothing is wrong with the rest.
                    made.code = api::ErrorCode::NO_DEVICE;
                }
                made
            }
            Error::Map { errno, .. } => Self::os(errno.raw_os_error(), message, ""),
            Error::Nonsense { .. } | Error::NotOpen => Self::new(api::ErrorCode::FAILED, message),
            Error::HeapFull { .. } => Self::new(api::ErrorCode::OUT_OF_RESOURCES, message),
            Error::NoDevice(_) => Self::new(api::ErrorCode::NO_DEVICE, message),
            Error::Argument(_) => Self::new(api::ErrorCode::INVALID_ARGUMENT, message),
            Error::Unsupported(_) => Self::new(api::ErrorCode::NOT_SUPPORTED, message),
            Error::Handle(_) => Self::new(api::ErrorCode::INVALID_HANDLE, message),
            Error::Forked => Self::new(api::ErrorCode::DEVICE_LOST, message),
        }
    }
}

/// What an errno of opening an accel node usually comes from.
#[must_use]
pub const fn likely_cause(errno: Errno) -> &'static str {
    match errno {
        Errno::ACCESS => ": the user is not in the group of the device (usually render)",
        Errno::PERM => {
            ": a device cgroup or a security module forbids it (in a container, pass the device in)"
        }
        Errno::NODEV | Errno::INVAL | Errno::OPNOTSUPP => {
            ": the kernel cannot give this process addresses on the device (it needs an IOMMU with shared addresses, or \
             an address space of its own; see the kernel's log)"
        }
        Errno::NXIO | Errno::NOENT => ": the node is there and no driver is behind it",
        Errno::NOMEM => ": the kernel has no memory for this process",
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
        let open = |errno| Error::Open {
            path: "/dev/accel/accel0".into(),
            errno,
            because: likely_cause(errno),
        };
        let rows = [
            (
                Error::Ioctl {
                    request: "CREATE_BO",
                    errno: Errno::NOMEM,
                    place: "/dev/accel/accel0".into(),
                },
                api::ErrorCode::OUT_OF_RESOURCES,
                "CREATE_BO failed at /dev/accel/accel0: Cannot allocate memory",
            ),
            (
                open(Errno::ACCESS),
                api::ErrorCode::PERMISSION,
                "group of the device",
            ),
            (open(Errno::NODEV), api::ErrorCode::NO_DEVICE, "needs an IOMMU"),
            (open(Errno::INVAL), api::ErrorCode::NO_DEVICE, "needs an IOMMU"),
            (
                Error::HeapFull { heap: 64, bytes: 128 },
                api::ErrorCode::OUT_OF_RESOURCES,
                "The device heap of 64 bytes has no room for 128 more",
            ),
            (
                Error::Unsupported("Heap memory cannot be shared"),
                api::ErrorCode::NOT_SUPPORTED,
                "Heap memory cannot be shared",
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
            assert!(made.to_string().contains(text), "{made}");
        }
    }
}
