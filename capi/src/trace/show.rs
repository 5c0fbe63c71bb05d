//! What a trace says of an argument, by its type: handles and addresses in hexadecimal, enumerations by their names, texts
//! in quotes, and behind the address of a place for a result what the function put there.

use hansa_plugin_api::hsa::*;
use std::ffi::{c_char, CStr};
use std::fmt::Debug;

/// Most bytes of a text that are shown.
const LONGEST: usize = 200;

/// The words for a value: by the rule of its type if there is one, else as Rust writes it. The compiler looks for a method
/// of `&&Shown` before it looks for one of `&Shown`.
macro_rules! show {
    ($name:expr, $value:expr, $good:expr) => {{
        #[allow(unused_imports, reason = "one of them is for this type")]
        use $crate::trace::show::{ByDebug as _, ByRule as _};
        (&&$crate::trace::show::Shown(&$value)).words($name, $good)
    }};
}
pub(super) use show;

/// A value to be shown.
pub(super) struct Shown<'a, T>(pub(super) &'a T);

/// A type with a rule.
pub(super) trait Show {
    /// The words for the argument `name` of a function that succeeded or did not.
    fn words(&self, name: &str, good: bool) -> String;
}

/// See [`show!`].
pub(super) trait ByRule {
    /// The words.
    fn words(&self, name: &str, good: bool) -> String;
}

/// See [`show!`].
pub(super) trait ByDebug {
    /// The words.
    fn words(&self, name: &str, good: bool) -> String;
}

impl<T: Show> ByRule for &Shown<'_, T> {
    fn words(&self, name: &str, good: bool) -> String {
        self.0.words(name, good)
    }
}

impl<T: Debug> ByDebug for Shown<'_, T> {
    fn words(&self, _name: &str, _good: bool) -> String {
        let text = format!("{:?}", self.0);
        match text.as_str() {
            "None" | "0x0" => "NULL".to_owned(),
            "()" => String::new(),
            // A callback.
            other => match other.strip_prefix("Some(") {
                Some(inside) => inside.trim_end_matches(')').to_owned(),
                None => text,
            },
        }
    }
}

/// A place for a result: its address, and what is there when the function put something there. A list, whose name is a
/// plural, may have no element.
fn place<T>(place: *mut T, name: &str, good: bool, words: impl FnOnce(T) -> String) -> String {
    if place.is_null() {
        return "NULL".to_owned();
    }
    if !good || name.ends_with('s') {
        return format!("{place:?}");
    }
    // SAFETY: the function succeeded, so it could write there.
    let value = unsafe { place.read_unaligned() };
    format!("{place:?} -> {}", words(value))
}

impl<T> Show for *mut *mut T {
    fn words(&self, name: &str, good: bool) -> String {
        place(*self, name, good, |value| {
            if value.is_null() {
                "NULL".to_owned()
            } else {
                format!("{value:?}")
            }
        })
    }
}

impl Show for *const c_char {
    fn words(&self, _name: &str, _good: bool) -> String {
        if self.is_null() {
            return "NULL".to_owned();
        }
        // SAFETY: the interface says that it is a text that ends in a NUL.
        let text = unsafe { CStr::from_ptr(*self) }.to_string_lossy();
        match text.char_indices().nth(LONGEST) {
            Some((end, _)) => format!("{:?}...", &text[..end]),
            None => format!("{text:?}"),
        }
    }
}

macro_rules! handles {
    ($($handle:ident)*) => {
        $(
            impl Show for $handle {
                fn words(&self, _name: &str, _good: bool) -> String {
                    format!("{:#x}", self.handle)
                }
            }

            impl Show for *mut $handle {
                fn words(&self, name: &str, good: bool) -> String {
                    place(*self, name, good, |value| format!("{:#x}", value.handle))
                }
            }
        )*
    };
}

handles! {
    hsa_agent_t hsa_cache_t hsa_signal_t hsa_signal_group_t hsa_region_t hsa_isa_t hsa_wavefront_t
    hsa_code_object_reader_t hsa_executable_t hsa_loaded_code_object_t hsa_executable_symbol_t hsa_code_object_t
    hsa_callback_data_t hsa_code_symbol_t hsa_amd_memory_pool_t hsa_amd_external_semaphore_t
    hsa_amd_vmem_alloc_handle_t hsa_ext_image_t hsa_ext_sampler_t hsa_ext_program_t hsa_ven_amd_pcs_t
}

/// Enumerations by the names of their values; a value that has none may be one of AMD's.
macro_rules! enumerations {
    ($($name:ident $(or $other:ident)?;)*) => {
        $(impl Show for $name {
            fn words(&self, _name: &str, _good: bool) -> String {
                let name = self.c_name();
                $(let name = name.or_else(|| $other(self.0).c_name());)?
                name.map_or_else(|| format!("{:#x}", self.0), str::to_owned)
            }
        })*
    };
}

enumerations! {
    hsa_status_t;
    hsa_access_permission_t;
    hsa_machine_model_t;
    hsa_profile_t;
    hsa_system_info_t;
    hsa_agent_info_t or hsa_amd_agent_info_t;
    hsa_cache_info_t;
    hsa_signal_condition_t;
    hsa_wait_state_t;
    hsa_region_info_t or hsa_amd_region_info_t;
    hsa_isa_info_t;
    hsa_fp_type_t;
    hsa_flush_mode_t;
    hsa_wavefront_info_t;
    hsa_executable_state_t;
    hsa_executable_info_t;
    hsa_executable_symbol_info_t;
    hsa_code_object_type_t;
    hsa_code_object_info_t;
    hsa_code_symbol_info_t;
    hsa_default_float_rounding_mode_t;
    hsa_queue_type_t;
    hsa_amd_coherency_type_t;
    hsa_amd_agent_attribute_t;
    hsa_amd_memory_pool_info_t;
    hsa_amd_agent_memory_pool_info_t;
    hsa_amd_copy_direction_t;
    hsa_amd_memory_type_t;
    hsa_amd_queue_priority_t;
    hsa_queue_info_attribute_t;
    hsa_amd_sdma_engine_id_t;
    hsa_ext_image_geometry_t;
    hsa_ext_image_data_layout_t;
    hsa_ext_program_info_t;
    hsa_ven_amd_pcs_method_kind_t;
    hsa_ven_amd_pcs_units_t;
}

/// What a function answers.
pub(super) trait Outcome {
    /// Whether it did what it was asked to.
    fn is_good(&self) -> bool;
}

impl Outcome for hsa_status_t {
    fn is_good(&self) -> bool {
        self.is_success()
    }
}

macro_rules! always_good {
    ($($ty:ty)*) => {
        $(impl Outcome for $ty {
            fn is_good(&self) -> bool {
                true
            }
        })*
    };
}
always_good! { () u32 u64 i64 }
