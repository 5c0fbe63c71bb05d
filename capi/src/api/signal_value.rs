//! Operations on the value of a signal (HSA Runtime PRM 1.2, section 2.4): one atomic each, no lock, no call.
//!
//! They have no status; a handle that is no live signal is left alone, and reads as 0.

use hansa_core::signal::{self, Condition};
use hansa_plugin_api::hsa::{hsa_signal_condition_t, hsa_signal_t, hsa_signal_value_t, hsa_wait_state_t};
use std::sync::atomic::{AtomicI64, Ordering};

macro_rules! loads {
    ($($name:ident $order:ident;)*) => {
        $(pub(crate) unsafe extern "C" fn $name(signal: hsa_signal_t) -> hsa_signal_value_t {
            signal::load(signal.handle, Ordering::$order)
        })*
    };
}

macro_rules! stores {
    ($($name:ident $order:ident;)*) => {
        $(pub(crate) unsafe extern "C" fn $name(signal: hsa_signal_t, value: hsa_signal_value_t) {
            signal::store(signal.handle, value, Ordering::$order);
        })*
    };
}

macro_rules! silent_stores {
    ($($name:ident $order:ident;)*) => {
        $(pub(crate) unsafe extern "C" fn $name(signal: hsa_signal_t, value: hsa_signal_value_t) {
            signal::store_silently(signal.handle, value, Ordering::$order);
        })*
    };
}

macro_rules! updates {
    ($($operation:ident { $($name:ident $order:ident;)* })*) => {
        $($(pub(crate) unsafe extern "C" fn $name(signal: hsa_signal_t, value: hsa_signal_value_t) {
            signal::update(signal.handle, |place| place.$operation(value, Ordering::$order));
        })*)*
    };
}

macro_rules! exchanges {
    ($($name:ident $order:ident;)*) => {
        $(pub(crate) unsafe extern "C" fn $name(signal: hsa_signal_t, value: hsa_signal_value_t) -> hsa_signal_value_t {
            signal::update(signal.handle, |place| place.swap(value, Ordering::$order))
        })*
    };
}

macro_rules! compare_exchanges {
    ($($name:ident $order:ident, $failure:ident;)*) => {
        $(pub(crate) unsafe extern "C" fn $name(
            signal: hsa_signal_t,
            expected: hsa_signal_value_t,
            value: hsa_signal_value_t,
        ) -> hsa_signal_value_t {
            let exchange = |place: &AtomicI64| {
                place
                    .compare_exchange(expected, value, Ordering::$order, Ordering::$failure)
                    .unwrap_or_else(|before| before)
            };
            signal::update(signal.handle, exchange)
        })*
    };
}

macro_rules! waits {
    ($($name:ident $order:ident;)*) => {
        $(pub(crate) unsafe extern "C" fn $name(
            signal: hsa_signal_t,
            condition: hsa_signal_condition_t,
            compare_value: hsa_signal_value_t,
            timeout_hint: u64,
            wait_state_hint: hsa_wait_state_t,
        ) -> hsa_signal_value_t {
            // Every wait spins for a while and then sleeps: that serves both hints.
            let _ = wait_state_hint;
            match known_condition(condition) {
                Some(condition) => signal::wait(signal.handle, condition, compare_value, timeout_hint),
                None => signal::load(signal.handle, Ordering::$order),
            }
        })*
    };
}

loads! {
    hsa_signal_load_relaxed Relaxed;
    hsa_signal_load_scacquire Acquire;
}
stores! {
    hsa_signal_store_relaxed Relaxed;
    hsa_signal_store_screlease Release;
}
silent_stores! {
    hsa_signal_silent_store_relaxed Relaxed;
    hsa_signal_silent_store_screlease Release;
}
updates! {
    fetch_add {
        hsa_signal_add_relaxed Relaxed;
        hsa_signal_add_scacquire Acquire;
        hsa_signal_add_screlease Release;
        hsa_signal_add_scacq_screl AcqRel;
    }
    fetch_sub {
        hsa_signal_subtract_relaxed Relaxed;
        hsa_signal_subtract_scacquire Acquire;
        hsa_signal_subtract_screlease Release;
        hsa_signal_subtract_scacq_screl AcqRel;
    }
    fetch_and {
        hsa_signal_and_relaxed Relaxed;
        hsa_signal_and_scacquire Acquire;
        hsa_signal_and_screlease Release;
        hsa_signal_and_scacq_screl AcqRel;
    }
    fetch_or {
        hsa_signal_or_relaxed Relaxed;
        hsa_signal_or_scacquire Acquire;
        hsa_signal_or_screlease Release;
        hsa_signal_or_scacq_screl AcqRel;
    }
    fetch_xor {
        hsa_signal_xor_relaxed Relaxed;
        hsa_signal_xor_scacquire Acquire;
        hsa_signal_xor_screlease Release;
        hsa_signal_xor_scacq_screl AcqRel;
    }
}
exchanges! {
    hsa_signal_exchange_relaxed Relaxed;
    hsa_signal_exchange_scacquire Acquire;
    hsa_signal_exchange_screlease Release;
    hsa_signal_exchange_scacq_screl AcqRel;
}
compare_exchanges! {
    hsa_signal_cas_relaxed Relaxed, Relaxed;
    hsa_signal_cas_scacquire Acquire, Acquire;
    hsa_signal_cas_screlease Release, Relaxed;
    hsa_signal_cas_scacq_screl AcqRel, Acquire;
}
waits! {
    hsa_signal_wait_relaxed Relaxed;
    hsa_signal_wait_scacquire Acquire;
}

/// The condition that a value stands for.
pub(crate) const fn known_condition(condition: hsa_signal_condition_t) -> Option<Condition> {
    match condition {
        hsa_signal_condition_t::EQ => Some(Condition::Eq),
        hsa_signal_condition_t::NE => Some(Condition::Ne),
        hsa_signal_condition_t::LT => Some(Condition::Lt),
        hsa_signal_condition_t::GTE => Some(Condition::Gte),
        _ => None,
    }
}
