//! The `hsa_status_t` for each of core's errors: one exhaustive match, without a wildcard.
//!
//! It stands in core because two edges need it: the C interface, and the services that extensions call.

use crate::error::Error;
use hansa_plugin_api::hsa::hsa_status_t as Status;
use hansa_plugin_api::{self as api, ErrorCode};

impl Error {
    /// The status that a program gets for it.
    #[must_use]
    pub fn status(&self) -> Status {
        match self {
            Self::NotInitialized => Status::ERROR_NOT_INITIALIZED,
            Self::RefCountOverflow => Status::ERROR_REFCOUNT_OVERFLOW,
            Self::InvalidArgument(_) => Status::ERROR_INVALID_ARGUMENT,
            Self::IncompatibleArguments(_) | Self::IncompatibleCode(_) => {
                Status::ERROR_INCOMPATIBLE_ARGUMENTS
            }
            Self::InvalidAgent => Status::ERROR_INVALID_AGENT,
            Self::InvalidRegion => Status::ERROR_INVALID_REGION,
            Self::InvalidMemoryPool => Status::ERROR_INVALID_MEMORY_POOL,
            Self::InvalidSignal => Status::ERROR_INVALID_SIGNAL,
            Self::InvalidSignalGroup => Status::ERROR_INVALID_SIGNAL_GROUP,
            Self::InvalidQueue => Status::ERROR_INVALID_QUEUE,
            Self::InvalidQueueCreation(_) => Status::ERROR_INVALID_QUEUE_CREATION,
            Self::InvalidIndex => Status::ERROR_INVALID_INDEX,
            Self::InvalidIsa => Status::ERROR_INVALID_ISA,
            Self::InvalidIsaName => Status::ERROR_INVALID_ISA_NAME,
            Self::InvalidCache => Status::ERROR_INVALID_CACHE,
            Self::InvalidWavefront => Status::ERROR_INVALID_WAVEFRONT,
            Self::InvalidAllocation(_) => Status::ERROR_INVALID_ALLOCATION,
            Self::OutOfResources(_) => Status::ERROR_OUT_OF_RESOURCES,
            Self::InvalidExecutable => Status::ERROR_INVALID_EXECUTABLE,
            Self::InvalidExecutableSymbol => Status::ERROR_INVALID_EXECUTABLE_SYMBOL,
            Self::InvalidCodeObjectReader => Status::ERROR_INVALID_CODE_OBJECT_READER,
            Self::InvalidCodeObject(_) => Status::ERROR_INVALID_CODE_OBJECT,
            Self::InvalidCodeSymbol => Status::ERROR_INVALID_CODE_SYMBOL,
            Self::InvalidFile => Status::ERROR_INVALID_FILE,
            Self::InvalidSymbolName => Status::ERROR_INVALID_SYMBOL_NAME,
            Self::VariableAlreadyDefined(_) => Status::ERROR_VARIABLE_ALREADY_DEFINED,
            Self::VariableUndefined(_) => Status::ERROR_VARIABLE_UNDEFINED,
            Self::FrozenExecutable => Status::ERROR_FROZEN_EXECUTABLE,
            Self::NotSupported(_) => Status::ERROR_NOT_SUPPORTED,
            Self::Failed(_) => Status::ERROR,
            Self::ResourceFree(_) => Status::ERROR_RESOURCE_FREE,
            Self::XnackDisabled => Status::ERROR_XNACK_DISABLED,
            Self::Busy(_) => Status::ERROR_RESOURCE_BUSY,
            Self::Driver(error) => of_driver(error),
            Self::Plugins(_) => Status::ERROR_OUT_OF_RESOURCES,
            Self::Callback(status) => Status(*status),
        }
    }
}

/// The status for what a plugin said.
fn of_driver(error: &api::Error) -> Status {
    match error.code {
        ErrorCode::NOT_SUPPORTED => Status::ERROR_NOT_SUPPORTED,
        ErrorCode::INVALID_ARGUMENT => Status::ERROR_INVALID_ARGUMENT,
        ErrorCode::OUT_OF_RESOURCES | ErrorCode::NO_DEVICE | ErrorCode::PERMISSION => {
            Status::ERROR_OUT_OF_RESOURCES
        }
        ErrorCode::BUSY => Status::ERROR_RESOURCE_BUSY,
        ErrorCode::INVALID_HANDLE => Status::ERROR_INVALID_ALLOCATION,
        ErrorCode::STATUS => Status(u32::from_ne_bytes(error.errno.to_ne_bytes())),
        // A code of a later interface, and everything without a status of its own.
        _ => Status::ERROR,
    }
}

impl From<Error> for api::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::Driver(inner) if inner.code == ErrorCode::STATUS => inner,
            other => Self::status(other.status().0, other.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A row for every variant, with the numbers of `hsa.h` and `hsa_ext_amd.h`.
    fn rows() -> Vec<(Error, u32)> {
        let driver = api::Error::new(ErrorCode::BUSY, "");
        vec![
            (Error::NotInitialized, 0x100b),
            (Error::RefCountOverflow, 0x100c),
            (Error::InvalidArgument(""), 0x1001),
            (Error::IncompatibleArguments(""), 0x100d),
            (Error::InvalidAgent, 0x1004),
            (Error::InvalidRegion, 0x1005),
            (Error::InvalidMemoryPool, 40),
            (Error::InvalidSignal, 0x1006),
            (Error::InvalidSignalGroup, 0x1024),
            (Error::InvalidQueue, 0x1007),
            (Error::InvalidQueueCreation(""), 0x1002),
            (Error::InvalidIndex, 0x100e),
            (Error::InvalidIsa, 0x100f),
            (Error::InvalidIsaName, 0x1017),
            (Error::InvalidCache, 0x1022),
            (Error::InvalidWavefront, 0x1023),
            (Error::InvalidAllocation(""), 0x1003),
            (Error::OutOfResources(""), 0x1008),
            (Error::InvalidExecutable, 0x1011),
            (Error::InvalidExecutableSymbol, 0x1019),
            (Error::InvalidCodeObjectReader, 0x1021),
            (Error::InvalidCodeObject(String::new()), 0x1010),
            (Error::InvalidCodeSymbol, 0x1018),
            (Error::InvalidFile, 0x1020),
            (Error::InvalidSymbolName, 0x1013),
            (Error::VariableAlreadyDefined(String::new()), 0x1014),
            (Error::VariableUndefined(String::new()), 0x1015),
            (Error::FrozenExecutable, 0x1012),
            (Error::IncompatibleCode(String::new()), 0x100d),
            (Error::NotSupported(""), 47),
            (Error::Failed(""), 0x1000),
            (Error::ResourceFree(""), 0x100a),
            (Error::XnackDisabled, 48),
            (Error::Busy(""), 46),
            (Error::Driver(driver), 46),
            (Error::Plugins(String::new()), 0x1008),
            (Error::Callback(0x77), 0x77),
        ]
    }

    #[test]
    fn every_variant_has_its_row_and_its_status() {
        let source = include_str!("error.rs");
        let (_, body) = source.split_once("pub enum Error {").unwrap();
        let variants = body.lines().filter(|line| {
            let name = line.strip_prefix("    ").unwrap_or_default();
            name.starts_with(|c: char| c.is_ascii_uppercase())
        });
        let rows = rows();
        let kinds: std::collections::HashSet<_> =
            rows.iter().map(|(e, _)| std::mem::discriminant(e)).collect();
        assert_eq!(kinds.len(), variants.count());
        for (error, status) in rows {
            assert_eq!(error.status().0, status, "{error:?}");
        }
    }

    #[test]
    fn what_a_driver_says_has_a_status() {
        let status = |code| Error::Driver(api::Error::new(code, "")).status().0;
        assert_eq!(status(ErrorCode::NOT_SUPPORTED), 47);
        assert_eq!(status(ErrorCode::OUT_OF_RESOURCES), 0x1008);
        assert_eq!(status(ErrorCode::DEVICE_LOST), 0x1000);
        assert_eq!(status(ErrorCode(4711)), 0x1000);
        assert_eq!(Error::Driver(api::Error::status(0x1006, "")).status().0, 0x1006);
    }

    #[test]
    fn an_error_keeps_its_status_on_the_way_to_an_extension() {
        let error: api::Error = Error::InvalidSignal.into();
        assert_eq!((error.code, error.errno), (ErrorCode::STATUS, 0x1006));
    }
}
