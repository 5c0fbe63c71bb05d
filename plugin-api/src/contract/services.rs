//! The runtime's services: what an extension can ask of the runtime.

use crate::interface;

interface! {
    /// What an extension can ask of the runtime. Handles and statuses are HSA's; an error carries the
    /// `hsa_status_t` ([`ErrorCode::STATUS`](crate::ErrorCode::STATUS)).
    pub trait RuntimeServices, RuntimeServicesVTable, RuntimeServicesVTableRef, RuntimeServicesVTablePrefix,
        RuntimeServicesObject, RuntimeServicesRef
    {
        /// Whether the runtime is between the first `hsa_init` and the last `hsa_shut_down`.
        fn is_running() -> bool;
    }
    optional {
    }
    added {
    }
}
