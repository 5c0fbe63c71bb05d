//! The plugin: its facts and its table.

use crate::entry::SERVING;
use crate::finalizer::Finalizer;
use crate::functions::{
    hsa_ext_program_add_module, hsa_ext_program_create, hsa_ext_program_destroy, hsa_ext_program_finalize,
    hsa_ext_program_get_info, hsa_ext_program_iterate_modules,
};
use hansa_extension_lib::serving::Installed;
use hansa_extension_lib::table::describe;
use hansa_plugin_api::hsa::{FinalizerExtTable, FINALIZER_EXT_TABLE_VERSION};
use hansa_plugin_api::manifest::PluginFacts;
use hansa_plugin_api::{
    Extension, ExtensionObject, ExtensionTable, HostRef, Plugin, RVec, Result, RuntimeServicesRef, TableSlot,
};
use std::sync::Arc;

/// `HSA_EXTENSION_FINALIZER`.
const FINALIZER: u32 = 0;

/// Builds the table of the functions from its rows.
macro_rules! finalizer_table {
    ($(($index:literal, $kind:ident, $name:ident, $field:ident, $args:tt, $ret:ty, $doc:literal))*) => {
        static FUNCTIONS: FinalizerExtTable = FinalizerExtTable { version: FINALIZER_EXT_TABLE_VERSION, $($field: $name,)* };
    };
}
hansa_plugin_api::for_each_finalizer_api!(finalizer_table);

/// The finalizer extension as a plugin.
#[derive(Debug)]
pub struct FinalizerPlugin;

impl Plugin for FinalizerPlugin {
    const FACTS: PluginFacts = hansa_extension_lib::facts("org.hansa.finalizer", env!("CARGO_PKG_VERSION"));

    fn extension(host: HostRef<'static>, runtime: RuntimeServicesRef<'static>) -> Result<ExtensionObject> {
        let finalizer = Arc::new(Finalizer::new(host, runtime));
        Ok(ExtensionObject::new(FinalizerExtension {
            _serving: SERVING.install(Arc::clone(&finalizer)),
            finalizer,
        }))
    }
}

/// The extension. While it lives it serves the functions.
#[derive(Debug)]
struct FinalizerExtension {
    finalizer: Arc<Finalizer>,
    _serving: Installed<Arc<Finalizer>>,
}

impl Extension for FinalizerExtension {
    fn tables(&self) -> Result<RVec<ExtensionTable>> {
        Ok(RVec::from(vec![describe(
            TableSlot::FINALIZER,
            FINALIZER,
            "HSA_EXTENSION_FINALIZER",
            (1, 0),
            &FUNCTIONS,
        )]))
    }

    fn shut_down(&self) -> Result<()> {
        self.finalizer.clear();
        Ok(())
    }
}
