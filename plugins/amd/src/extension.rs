//! The plugin: its facts, its tables, and the services it is made with.

use crate::entry::{Services, SERVING};
use crate::pc_sampling::PC_SAMPLING;
#[allow(
    clippy::wildcard_imports,
    reason = "the rows of the tables name every function of the extension"
)]
use crate::{
    agents::*, batch::*, copies::*, files::*, images::*, interop::*, ipc::*, loader::*, memory::*,
    pointers::*, pools::*, profiling::*, queue_create::*, queues::*, semaphores::*, signals::*, svm::*,
    tools::*, vmem::*,
};
use hansa_extension_lib::quick::QuickInstalled;
use hansa_extension_lib::table::{bytes, describe, NO_ID};
use hansa_plugin_api::hsa::{
    hsa_ven_amd_loader_1_00_pfn_t, hsa_ven_amd_loader_1_01_pfn_t, hsa_ven_amd_loader_1_02_pfn_t,
    hsa_ven_amd_loader_1_03_pfn_t, hsa_ven_amd_loader_1_04_pfn_t, AmdExtTable, AMD_EXT_TABLE_VERSION,
};
use hansa_plugin_api::manifest::PluginFacts;
use hansa_plugin_api::{
    Extension, ExtensionObject, ExtensionTable, HostRef, Plugin, RVec, Result, RuntimeServicesRef, TableSlot,
};

/// `HSA_EXTENSION_AMD_LOADER`.
const AMD_LOADER: u32 = 0x201;

/// `HSA_EXTENSION_AMD_PC_SAMPLING`.
const AMD_PC_SAMPLING: u32 = 0x203;

/// Builds the table of the `hsa_amd_*` functions from its rows.
macro_rules! amd_ext_table {
    ($(($index:literal, $kind:ident, $name:ident, $field:ident, $args:tt, $ret:ty, $doc:literal))*) => {
        static AMD_EXT: AmdExtTable = AmdExtTable { version: AMD_EXT_TABLE_VERSION, $($field: $name,)* };
    };
}
hansa_plugin_api::for_each_amd_ext_api!(amd_ext_table);

/// Builds the table of the loader functions from its rows.
macro_rules! loader_table {
    ($(($index:literal, $kind:ident, $name:ident, $field:ident, $args:tt, $ret:ty, $doc:literal))*) => {
        static LOADER: hsa_ven_amd_loader_1_04_pfn_t = hsa_ven_amd_loader_1_04_pfn_t { $($name,)* };
    };
}
hansa_plugin_api::for_each_loader_api!(loader_table);

/// The AMD extension as a plugin.
#[derive(Debug)]
pub struct AmdPlugin;

impl Plugin for AmdPlugin {
    const FACTS: PluginFacts = hansa_extension_lib::facts("org.hansa.amd", env!("CARGO_PKG_VERSION"));

    fn extension(host: HostRef<'static>, runtime: RuntimeServicesRef<'static>) -> Result<ExtensionObject> {
        Ok(ExtensionObject::new(AmdExtension {
            _serving: SERVING.install(Services::new(host, runtime)),
        }))
    }
}

/// The extension. While it lives its services are those of the functions.
#[derive(Debug)]
struct AmdExtension {
    _serving: QuickInstalled<Services>,
}

impl Extension for AmdExtension {
    fn tables(&self) -> Result<RVec<ExtensionTable>> {
        let mut loader = describe(
            TableSlot::NONE,
            AMD_LOADER,
            "HSA_EXTENSION_AMD_LOADER",
            (1, 4),
            &LOADER,
        );
        loader.bytes_at_minor = RVec::from(vec![
            bytes::<hsa_ven_amd_loader_1_00_pfn_t>(),
            bytes::<hsa_ven_amd_loader_1_01_pfn_t>(),
            bytes::<hsa_ven_amd_loader_1_02_pfn_t>(),
            bytes::<hsa_ven_amd_loader_1_03_pfn_t>(),
            bytes::<hsa_ven_amd_loader_1_04_pfn_t>(),
        ]);
        Ok(RVec::from(vec![
            describe(TableSlot::AMD, NO_ID, "HSA_EXTENSION_AMD", (1, 34), &AMD_EXT),
            loader,
            describe(
                TableSlot::PC_SAMPLING,
                AMD_PC_SAMPLING,
                "HSA_EXTENSION_AMD_PC_SAMPLING",
                (1, 0),
                &PC_SAMPLING,
            ),
        ]))
    }

    /// There is nothing to stop: every function asks the runtime whether it runs.
    fn shut_down(&self) -> Result<()> {
        Ok(())
    }
}
