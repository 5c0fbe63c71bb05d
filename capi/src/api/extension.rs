//! Which extensions there are, and their function tables (HSA Runtime PRM 1.2, section 2.3).
//!
//! All answers come from the tables that the runtime's extensions brought: an extension is supported when there
//! is a table of it. Tables of the extensions whose functions are also exported consist of the exported
//! functions, so that a tool sees calls through them too.

#![allow(
    clippy::wildcard_imports,
    reason = "the rows name nearly every type of the interface"
)]

use crate::entry::{entry, not_null, Place};
use crate::export;
use hansa_core::agent::Agent;
use hansa_core::runtime::Runtime;
use hansa_core::{current, Error, Result};
use hansa_plugin_api::hsa::*;
use hansa_plugin_api::{AgentCaps, ExtensionTable, TableSlot};
use std::ffi::CStr;

/// Numbers of the extensions and their names.
const NAMES: [(hsa_extension_t, &CStr); 8] = [
    (hsa_extension_t::FINALIZER, c"HSA_EXTENSION_FINALIZER"),
    (hsa_extension_t::IMAGES, c"HSA_EXTENSION_IMAGES"),
    (
        hsa_extension_t::PERFORMANCE_COUNTERS,
        c"HSA_EXTENSION_PERFORMANCE_COUNTERS",
    ),
    (
        hsa_extension_t::PROFILING_EVENTS,
        c"HSA_EXTENSION_PROFILING_EVENTS",
    ),
    (hsa_extension_t::AMD_PROFILER, c"HSA_EXTENSION_AMD_PROFILER"),
    (hsa_extension_t::AMD_LOADER, c"HSA_EXTENSION_AMD_LOADER"),
    (hsa_extension_t::AMD_AQLPROFILE, c"HSA_EXTENSION_AMD_AQLPROFILE"),
    (hsa_extension_t::AMD_PC_SAMPLING, c"HSA_EXTENSION_AMD_PC_SAMPLING"),
];

/// Images, with the functions that a program calls.
static IMAGES: hsa_ext_images_1_pfn_t = hsa_ext_images_1_pfn_t {
    hsa_ext_image_get_capability: export::hsa_ext_image_get_capability,
    hsa_ext_image_data_get_info: export::hsa_ext_image_data_get_info,
    hsa_ext_image_create: export::hsa_ext_image_create,
    hsa_ext_image_destroy: export::hsa_ext_image_destroy,
    hsa_ext_image_copy: export::hsa_ext_image_copy,
    hsa_ext_image_import: export::hsa_ext_image_import,
    hsa_ext_image_export: export::hsa_ext_image_export,
    hsa_ext_image_clear: export::hsa_ext_image_clear,
    hsa_ext_sampler_create: export::hsa_ext_sampler_create,
    hsa_ext_sampler_destroy: export::hsa_ext_sampler_destroy,
    hsa_ext_image_get_capability_with_layout: export::hsa_ext_image_get_capability_with_layout,
    hsa_ext_image_data_get_info_with_layout: export::hsa_ext_image_data_get_info_with_layout,
    hsa_ext_image_create_with_layout: export::hsa_ext_image_create_with_layout,
    hsa_ext_sampler_create_v2: export::hsa_ext_sampler_create_v2,
};

/// The finalizer.
static FINALIZER: hsa_ext_finalizer_1_00_pfn_t = hsa_ext_finalizer_1_00_pfn_t {
    hsa_ext_program_create: export::hsa_ext_program_create,
    hsa_ext_program_destroy: export::hsa_ext_program_destroy,
    hsa_ext_program_add_module: export::hsa_ext_program_add_module,
    hsa_ext_program_iterate_modules: export::hsa_ext_program_iterate_modules,
    hsa_ext_program_get_info: export::hsa_ext_program_get_info,
    hsa_ext_program_finalize: export::hsa_ext_program_finalize,
};

/// Sampling of program counters.
static PC_SAMPLING: hsa_ven_amd_pc_sampling_1_00_pfn_t = hsa_ven_amd_pc_sampling_1_00_pfn_t {
    hsa_ven_amd_pcs_iterate_configuration: export::hsa_ven_amd_pcs_iterate_configuration,
    hsa_ven_amd_pcs_create: export::hsa_ven_amd_pcs_create,
    hsa_ven_amd_pcs_create_from_id: export::hsa_ven_amd_pcs_create_from_id,
    hsa_ven_amd_pcs_destroy: export::hsa_ven_amd_pcs_destroy,
    hsa_ven_amd_pcs_start: export::hsa_ven_amd_pcs_start,
    hsa_ven_amd_pcs_stop: export::hsa_ven_amd_pcs_stop,
    hsa_ven_amd_pcs_flush: export::hsa_ven_amd_pcs_flush,
};

/// Functions of the first version of the image extension.
const IMAGES_1_00: usize = size_of::<hsa_ext_images_1_00_pfn_t>();

/// A table to copy from.
#[derive(Clone, Copy)]
struct Source {
    table: *const u8,
    bytes: usize,
    /// Bytes of the table at a minor version, if there is that version.
    at_minor: Option<usize>,
}

impl Source {
    /// The table that programs get for an extension's, with its size at `minor`.
    fn of(given: &ExtensionTable, minor: u16) -> Self {
        fn fixed<T>(table: &'static T, at_minor: usize) -> (*const u8, usize, usize) {
            (std::ptr::from_ref(table).cast(), size_of::<T>(), at_minor)
        }
        let known = minor <= given.minor;
        let (table, bytes, at_minor) = match given.slot {
            TableSlot::IMAGE => {
                let at_minor = if minor == 0 {
                    IMAGES_1_00
                } else {
                    size_of_val(&IMAGES)
                };
                fixed(&IMAGES, at_minor)
            }
            TableSlot::FINALIZER => fixed(&FINALIZER, size_of_val(&FINALIZER)),
            TableSlot::PC_SAMPLING => fixed(&PC_SAMPLING, size_of_val(&PC_SAMPLING)),
            _ => {
                let bytes = given.bytes as usize;
                let at_minor = given
                    .bytes_at_minor
                    .get(usize::from(minor))
                    .map_or(bytes, |&b| b as usize);
                (given.table.cast(), bytes, at_minor.min(bytes))
            }
        };
        Self {
            table,
            bytes,
            at_minor: known.then_some(at_minor),
        }
    }

    fn copy(self, table: *mut c_void, bytes: usize) {
        // SAFETY: the source has that many bytes; the program says that the destination has.
        unsafe { std::ptr::copy_nonoverlapping(self.table, table.cast(), bytes.min(self.bytes)) };
    }
}

/// Does something with every table that an extension number stands for.
fn find<T>(runtime: &Runtime, number: u16, mut with: impl FnMut(&ExtensionTable) -> Option<T>) -> Option<T> {
    let extensions = runtime.extensions.lock();
    let mut tables = extensions
        .slots
        .iter()
        .flat_map(|e| &e.tables)
        .filter(|t| t.id == u32::from(number));
    tables.find_map(&mut with)
}

/// Refuses numbers that no extension has.
fn known(runtime: &Runtime, number: u16) -> Result<()> {
    let named = NAMES
        .iter()
        .any(|(extension, _)| extension.0 == u32::from(number));
    if named || find(runtime, number, |_| Some(())).is_some() {
        Ok(())
    } else {
        Err(Error::InvalidArgument("not an extension"))
    }
}

/// Whether an agent has what an extension needs.
fn concerns(agent: &Agent, table: &ExtensionTable) -> bool {
    !agent.is_cpu() && (table.slot != TableSlot::IMAGE || agent.can(AgentCaps::IMAGES))
}

/// The highest minor version of a major one, if there is any.
fn highest_minor(runtime: &Runtime, agent: Option<&Agent>, number: u16, major: u16) -> Option<u16> {
    find(runtime, number, |table| {
        let fits = table.major == major && agent.is_none_or(|agent| concerns(agent, table));
        fits.then_some(table.minor)
    })
}

/// One bit for each extension of the system, or of an agent.
pub(crate) fn mask(runtime: &Runtime, agent: Option<&Agent>) -> [u8; 128] {
    let mut mask = [0; 128];
    let extensions = runtime.extensions.lock();
    for table in extensions.slots.iter().flat_map(|e| &e.tables) {
        if !agent.is_none_or(|agent| concerns(agent, table)) {
            continue;
        }
        if let Some(byte) = mask.get_mut((table.id / 8) as usize) {
            *byte |= 1 << (table.id % 8);
        }
    }
    mask
}

/// Major and minor version of what fills a table of the runtime; 0.0 when nothing does.
pub(crate) fn version_of_slot(runtime: &Runtime, slot: TableSlot) -> (u16, u16) {
    let extensions = runtime.extensions.lock();
    let mut tables = extensions.slots.iter().flat_map(|e| &e.tables);
    tables
        .find(|t| t.slot == slot)
        .map_or((0, 0), |t| (t.major, t.minor))
}

entry! {
    fn hsa_extension_get_name(extension: u16, name: *mut *const c_char) {
        current()?;
        let place = Place::new(name)?;
        let (_, text) = NAMES
            .iter()
            .find(|(number, _)| number.0 == u32::from(extension))
            .ok_or(Error::InvalidArgument("not an extension"))?;
        place.set(text.as_ptr());
        Ok(())
    }

    fn hsa_system_extension_supported(extension: u16, version_major: u16, version_minor: u16, result: *mut bool) {
        let runtime = current()?;
        known(&runtime, extension)?;
        let place = Place::new(result)?;
        let minor = highest_minor(&runtime, None, extension, version_major);
        place.set(minor.is_some_and(|highest| version_minor <= highest));
        Ok(())
    }

    fn hsa_system_major_extension_supported(
        extension: u16,
        version_major: u16,
        version_minor: *mut u16,
        result: *mut bool,
    ) {
        let runtime = current()?;
        known(&runtime, extension)?;
        let (minor, result) = (Place::new(version_minor)?, Place::new(result)?);
        supported(highest_minor(&runtime, None, extension, version_major), minor, result);
        Ok(())
    }

    fn hsa_agent_extension_supported(
        extension: u16,
        agent: hsa_agent_t,
        version_major: u16,
        version_minor: u16,
        result: *mut bool,
    ) {
        let runtime = current()?;
        known(&runtime, extension)?;
        let place = Place::new(result)?;
        let agent = runtime.agent(agent.handle)?;
        let minor = highest_minor(&runtime, Some(agent), extension, version_major);
        place.set(minor.is_some_and(|highest| version_minor <= highest));
        Ok(())
    }

    fn hsa_agent_major_extension_supported(
        extension: u16,
        agent: hsa_agent_t,
        version_major: u16,
        version_minor: *mut u16,
        result: *mut bool,
    ) {
        let runtime = current()?;
        known(&runtime, extension)?;
        let (minor, result) = (Place::new(version_minor)?, Place::new(result)?);
        let agent = runtime.agent(agent.handle)?;
        supported(highest_minor(&runtime, Some(agent), extension, version_major), minor, result);
        Ok(())
    }

    fn hsa_system_get_extension_table(extension: u16, version_major: u16, version_minor: u16, table: *mut c_void) {
        let runtime = current()?;
        not_null(table)?;
        let source = find(&runtime, extension, |t| {
            let source = Source::of(t, version_minor);
            Some((source, source.at_minor?)).filter(|_| t.major == version_major)
        });
        let (source, bytes) = source.ok_or(Error::InvalidArgument("not a version of an extension that is here"))?;
        source.copy(table, bytes);
        Ok(())
    }

    fn hsa_system_get_major_extension_table(
        extension: u16,
        version_major: u16,
        table_length: usize,
        table: *mut c_void,
    ) {
        let runtime = current()?;
        not_null(table)?;
        if table_length == 0 {
            return Err(Error::InvalidArgument("a table has at least one byte"));
        }
        let source = find(&runtime, extension, |t| (t.major == version_major).then(|| Source::of(t, t.minor)));
        let source = source.ok_or(Error::InvalidArgument("not a version of an extension that is here"))?;
        source.copy(table, table_length);
        Ok(())
    }
}

/// Writes the answer to whether a major version is there.
fn supported(highest: Option<u16>, minor: Place<u16>, result: Place<bool>) {
    result.set(highest.is_some());
    if let Some(highest) = highest {
        minor.set(highest);
    }
}
