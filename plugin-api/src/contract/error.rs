//! Errors of the contract: what a plugin, or the host, says when something cannot be done.

use abi_stable::std_types::{RResult, RString};
use abi_stable::StableAbi;
use std::fmt;

/// What kind of thing went wrong. A number that may grow: an unknown one is treated as [`ErrorCode::FAILED`].
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, StableAbi)]
pub struct ErrorCode(pub u32);

impl ErrorCode {
    /// Something failed; the message says what.
    pub const FAILED: Self = Self(1);
    /// This plugin has no such method, flag or query.
    pub const NOT_SUPPORTED: Self = Self(2);
    /// An argument is one that the device or the kernel cannot take.
    pub const INVALID_ARGUMENT: Self = Self(3);
    /// Memory, queues, events or another resource of the device or the kernel ran out.
    pub const OUT_OF_RESOURCES: Self = Self(4);
    /// There is no device for this plugin; nothing is wrong.
    pub const NO_DEVICE: Self = Self(5);
    /// The system refused access; `errno` and `place` say how and where.
    pub const PERMISSION: Self = Self(6);
    /// The device was there and is gone, or must be reset.
    pub const DEVICE_LOST: Self = Self(7);
    /// Somebody else holds it.
    pub const BUSY: Self = Self(8);
    /// The call's time ran out.
    pub const TIMEOUT: Self = Self(9);
    /// The kernel module or firmware is too old or too new; the message names both versions.
    pub const WRONG_VERSION: Self = Self(10);
    /// A handle is not one that this plugin gave out.
    pub const INVALID_HANDLE: Self = Self(11);
    /// The implementation panicked; the message is the panic's text.
    pub const PANIC: Self = Self(12);
    /// Runtime services only: an `hsa_status_t`, carried in `errno`.
    pub const STATUS: Self = Self(13);
}

/// An error: its kind, the system's error number if there was one, the place, and a text for people.
#[repr(C)]
#[derive(Clone, Debug, PartialEq, Eq, StableAbi)]
pub struct Error {
    /// The kind.
    pub code: ErrorCode,
    /// The system's error number, or 0; for [`ErrorCode::STATUS`] the `hsa_status_t`.
    pub errno: i32,
    /// What failed, in one sentence without a full stop.
    pub message: RString,
    /// The file, device node or object it happened at; empty when there is none.
    pub place: RString,
}

/// What methods of the contract return.
pub type Result<T> = std::result::Result<T, Error>;

/// [`Result`] in the form that crosses the boundary.
pub type RawResult<T> = RResult<T, Error>;

impl Error {
    /// Makes an error of a kind with a message.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            errno: 0,
            message: RString::from(message.into()),
            place: RString::new(),
        }
    }

    /// The answer of a method that an implementation does not have.
    #[must_use]
    pub fn not_supported(method: &str) -> Self {
        Self::new(ErrorCode::NOT_SUPPORTED, format!("{method} is not supported"))
    }

    /// Makes an error from a refused system call at `place`.
    pub fn os(errno: i32, message: impl Into<String>, place: impl Into<String>) -> Self {
        let code = match errno {
            libc::EACCES | libc::EPERM => ErrorCode::PERMISSION,
            libc::ENOMEM | libc::ENOSPC | libc::EMFILE | libc::ENFILE => ErrorCode::OUT_OF_RESOURCES,
            libc::ENODEV | libc::ENXIO => ErrorCode::DEVICE_LOST,
            libc::EINVAL => ErrorCode::INVALID_ARGUMENT,
            libc::EBUSY => ErrorCode::BUSY,
            libc::ETIME | libc::ETIMEDOUT => ErrorCode::TIMEOUT,
            _ => ErrorCode::FAILED,
        };
        Self {
            code,
            errno,
            message: RString::from(message.into()),
            place: RString::from(place.into()),
        }
    }

    /// Names the place of an error.
    #[must_use]
    pub fn at(mut self, place: impl Into<String>) -> Self {
        self.place = RString::from(place.into());
        self
    }

    /// Carries an `hsa_status_t` from the runtime to an extension.
    pub fn status(status: u32, message: impl Into<String>) -> Self {
        Self {
            errno: i32::from_ne_bytes(status.to_ne_bytes()),
            ..Self::new(ErrorCode::STATUS, message)
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if !self.place.is_empty() {
            write!(f, " at {}", self.place)?;
        }
        if self.errno != 0 && self.code != ErrorCode::STATUS {
            write!(f, ": {}", std::io::Error::from_raw_os_error(self.errno))?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_open_is_a_permission_error_with_its_place() {
        let error = Error::os(libc::EACCES, "Cannot open the device", "/dev/kfd");
        assert_eq!(error.code, ErrorCode::PERMISSION);
        assert_eq!(
            error.to_string(),
            "Cannot open the device at /dev/kfd: Permission denied (os error 13)"
        );
    }
}
