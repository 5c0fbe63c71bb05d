//! The AMD extension as a program sees it: through its tables, over a scripted runtime.
//!
//! Expected statuses are those of the AMD header. AMD's runtime 5.2.3 was measured case by case on a virtual device; its
//! answers count where header and measurements agree, or where programs need them.
#![allow(
    clippy::macro_metavars_in_unsafe,
    reason = "the rows of a table of cases are arguments of unsafe functions"
)]

/// Calls functions of a table and compares each status with the expected one.
macro_rules! statuses {
    ($table:expr; $($case:literal: $function:ident($($arg:expr),* $(,)?) => $status:ident,)*) => {
        $(
            // SAFETY: pointers of the case are NULL or to live objects of the type.
            let status = unsafe { ($table.$function)($($arg),*) };
            assert_eq!(
                status,
                hansa_plugin_api::hsa::hsa_status_t::$status,
                "{}: {}", stringify!($function), $case
            );
        )*
    };
}

mod agents;
mod batch;
mod copies;
mod loader;
mod pointers;
mod pools;
mod queue_create;
mod queues;
mod sharing;
mod signals;
mod support;
mod svm;
mod table;
mod vmem;
