//! Reports calls to the trace (`HSA_TRACE`).
//!
//! While there is a trace, every member of the tables is a function of this module, which calls what was there before and
//! reports the call; without one this module has no cost at all. The functions are made from the rows of the interface, and so is
//! what they say of arguments ([`show`]). Tools are loaded later and patch over them.

#![allow(
    clippy::wildcard_imports,
    clippy::let_unit_value,
    clippy::needless_borrow,
    reason = "generated for functions of every type"
)]

mod show;

use crate::absent::{self, UntabledTable};
use crate::table::{self, Table};
use hansa_core::{clock, trace};
use hansa_plugin_api::hsa::*;
use hansa_plugin_api::{
    for_each_amd_ext_api, for_each_core_api, for_each_finalizer_api, for_each_image_api,
    for_each_pc_sampling_api, for_each_untabled_api,
};
use show::{show, Outcome};

/// A function that calls and reports.
macro_rules! reporting {
    ($inner:ident, $name:ident, $field:ident, ($($arg:ident: $ty:ty),*), $ret:ty) => {
        pub(super) unsafe extern "C" fn $name($($arg: $ty),*) -> $ret {
            let slot = $inner.member(|table| {
                // SAFETY: the pointer is that of a static table.
                unsafe { &raw const (*table).$field }
            });
            // SAFETY: the slot always holds a function.
            let function = unsafe { slot.read_volatile() };
            let start = clock::now();
            // SAFETY: what the caller promised for this function holds for the one behind it.
            let result = unsafe { function($($arg),*) };
            let good = result.is_good();
            trace::call(
                stringify!($name),
                &[$((stringify!($arg).trim_start_matches("r#"), show!(stringify!($arg), $arg, good))),*],
                &show!("", result, good),
                start,
            );
            result
        }
    };
}

macro_rules! reporting_table {
    ([$module:ident, $Table:ident, $before:expr] $(($index:literal, $kind:ident, $name:ident, $field:ident, $args:tt, $ret:ty, $doc:literal))*) => {
        mod $module {
            use super::*;

            /// What was in the table.
            pub(super) static INNER: Table<$Table> = Table::new($before);

            $(reporting!(INNER, $name, $field, $args, $ret);)*

            pub(super) const REPORTING: $Table = $Table {
                version: absent::NO_VERSION,
                $($field: $name,)*
            };
        }
    };
}

for_each_core_api!(reporting_table [core, CoreApiTable, table::CORE_FUNCTIONS]);
for_each_amd_ext_api!(reporting_table [amd, AmdExtTable, absent::AMD]);
for_each_image_api!(reporting_table [image, ImageExtTable, absent::IMAGE]);
for_each_finalizer_api!(reporting_table [finalizer, FinalizerExtTable, absent::FINALIZER]);
for_each_pc_sampling_api!(reporting_table [pc_sampling, PcSamplingExtTable, absent::PC_SAMPLING]);

macro_rules! reporting_untabled {
    ($(($name:ident, $args:tt, $ret:ty, $doc:literal))*) => {
        mod untabled {
            use super::*;

            pub(super) static INNER: Table<UntabledTable> = Table::new(absent::UNTABLED);

            $(reporting!(INNER, $name, $name, $args, $ret);)*

            pub(super) const REPORTING: UntabledTable = UntabledTable {
                version: absent::NO_VERSION,
                $($name,)*
            };
        }
    };
}
for_each_untabled_api!(reporting_untabled);

/// Puts the reporting functions into the tables.
pub(crate) fn install() {
    table::CORE.wrap(&core::INNER, &core::REPORTING);
    table::AMD.wrap(&amd::INNER, &amd::REPORTING);
    table::IMAGE.wrap(&image::INNER, &image::REPORTING);
    table::FINALIZER.wrap(&finalizer::INNER, &finalizer::REPORTING);
    table::PC_SAMPLING.wrap(&pc_sampling::INNER, &pc_sampling::REPORTING);
    table::UNTABLED.wrap(&untabled::INNER, &untabled::REPORTING);
}

/// Reports the `hsa_init` that began the trace: it was called before there was one.
pub(crate) fn report_init(start: u64) {
    let result = show!("", hsa_status_t::SUCCESS, true);
    trace::call("hsa_init", &[], &result, start);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_said_by_their_kind() {
        let agent = hsa_agent_t { handle: 0x51 };
        assert_eq!(show!("agent", agent, true), "0x51");
        assert_eq!(
            show!("attribute", hsa_agent_info_t::NAME, true),
            "HSA_AGENT_INFO_NAME"
        );
        assert_eq!(
            show!("attribute", hsa_agent_info_t(0xa002), true),
            "HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT"
        );
        assert_eq!(show!("attribute", hsa_agent_info_t(0x7777), true), "0x7777");
        assert_eq!(show!("size", 64_u32, true), "64");
        assert_eq!(show!("data", std::ptr::null_mut::<c_void>(), true), "NULL");
        assert_eq!(show!("name", c"main".as_ptr(), true), "\"main\"");
        assert_eq!(show!("callback", None::<unsafe extern "C" fn(u32)>, true), "NULL");
        assert_eq!(show!("", (), true), "");
    }

    #[test]
    fn what_a_function_made_is_said_when_it_was_made() {
        let mut signal = hsa_signal_t { handle: 0x77 };
        let place = &raw mut signal;
        let address = format!("{place:?}");
        assert_eq!(show!("signal", place, true), format!("{address} -> 0x77"));
        assert_eq!(show!("signal", place, false), address);
        // A list may be empty.
        assert_eq!(show!("signals", place, true), address);
        let mut memory = std::ptr::null_mut::<c_void>();
        let place = &raw mut memory;
        assert_eq!(show!("ptr", place, true), format!("{place:?} -> NULL"));
    }
}
