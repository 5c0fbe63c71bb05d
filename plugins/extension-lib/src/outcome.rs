//! What the body of a function answers, and the status that the program gets.

use hansa_plugin_api::hsa::hsa_status_t;
use hansa_plugin_api::{Error, ErrorCode};

/// Why a function does not answer success.
#[derive(Debug)]
pub enum Failure {
    /// Its own check, or a program's callback, said so.
    Status(hsa_status_t),
    /// The runtime said so.
    Service(Error),
}

/// What the body of a function answers.
pub type Outcome<T = ()> = Result<T, Failure>;

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
            Failure::Status(status) => {
                Self::status(status.0, status.c_name().unwrap_or("A status of the extension"))
            }
            Failure::Service(error) => error,
        }
    }
}

impl Failure {
    /// The status that the program gets.
    pub fn status(&self) -> hsa_status_t {
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
pub fn ensure(condition: bool, status: hsa_status_t) -> Outcome {
    if condition {
        Ok(())
    } else {
        Err(status.into())
    }
}

/// Goes on if `condition` holds, and ends the function with INVALID_ARGUMENT otherwise.
pub fn argument(condition: bool) -> Outcome {
    ensure(condition, hsa_status_t::ERROR_INVALID_ARGUMENT)
}

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

    #[test]
    fn a_status_survives_the_way_back_to_the_runtime() {
        let status = hsa_status_t::ERROR_INVALID_AGENT;
        let error = Error::from(Failure::Status(status));
        assert_eq!(error.code, ErrorCode::STATUS);
        assert_eq!(Failure::from(error).status(), status);
    }
}
