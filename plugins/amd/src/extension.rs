//! The plugin: its facts, its tables, and the services it is made with.

use crate::entry::{install, remove, Services};
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
use hansa_plugin_api::hsa::{
    hsa_ven_amd_loader_1_00_pfn_t, hsa_ven_amd_loader_1_01_pfn_t, hsa_ven_amd_loader_1_02_pfn_t,
    hsa_ven_amd_loader_1_03_pfn_t, hsa_ven_amd_loader_1_04_pfn_t, AmdExtTable, PcSamplingExtTable,
    AMD_EXT_TABLE_VERSION,
};
use hansa_plugin_api::manifest::{Claims, DefaultUse, Kind, PluginFacts, Policy, TARGET};
use hansa_plugin_api::{
    Extension, ExtensionObject, ExtensionTable, HostRef, Plugin, RVec, Result, RuntimeServicesRef, TableSlot,
    INTERFACE,
};
use std::sync::atomic::{AtomicU64, Ordering};

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
    const FACTS: PluginFacts = PluginFacts {
        id: "org.hansa.amd",
        kind: Kind::Extension,
        version: env!("CARGO_PKG_VERSION"),
        target: TARGET,
        interface: INTERFACE,
        claims: Claims::ALWAYS,
        policy: Policy {
            priority: 10,
            default: DefaultUse::On,
            ..Policy::DEFAULT
        },
    }
    .checked();

    fn extension(host: HostRef<'static>, runtime: RuntimeServicesRef<'static>) -> Result<ExtensionObject> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let extension = AmdExtension {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
        };
        install(extension.id, Services::new(host, runtime));
        Ok(ExtensionObject::new(extension))
    }
}

/// The extension. While it lives its services are those of the functions.
#[derive(Debug)]
struct AmdExtension {
    id: u64,
}

impl Drop for AmdExtension {
    fn drop(&mut self) {
        remove(self.id);
    }
}

impl Extension for AmdExtension {
    fn tables(&self) -> Result<RVec<ExtensionTable>> {
        let minor_sizes = [
            size_of::<hsa_ven_amd_loader_1_00_pfn_t>(),
            size_of::<hsa_ven_amd_loader_1_01_pfn_t>(),
            size_of::<hsa_ven_amd_loader_1_02_pfn_t>(),
            size_of::<hsa_ven_amd_loader_1_03_pfn_t>(),
            size_of::<hsa_ven_amd_loader_1_04_pfn_t>(),
        ];
        Ok(RVec::from(vec![
            ExtensionTable {
                slot: TableSlot::AMD,
                id: u32::MAX,
                name: "HSA_EXTENSION_AMD".into(),
                major: 1,
                minor: 34,
                bytes: bytes(size_of::<AmdExtTable>()),
                table: (&raw const AMD_EXT).cast(),
                bytes_at_minor: RVec::new(),
            },
            ExtensionTable {
                slot: TableSlot::NONE,
                id: AMD_LOADER,
                name: "HSA_EXTENSION_AMD_LOADER".into(),
                major: 1,
                minor: 4,
                bytes: bytes(size_of::<hsa_ven_amd_loader_1_04_pfn_t>()),
                table: (&raw const LOADER).cast(),
                bytes_at_minor: minor_sizes.map(bytes).to_vec().into(),
            },
            ExtensionTable {
                slot: TableSlot::PC_SAMPLING,
                id: AMD_PC_SAMPLING,
                name: "HSA_EXTENSION_AMD_PC_SAMPLING".into(),
                major: 1,
                minor: 0,
                bytes: bytes(size_of::<PcSamplingExtTable>()),
                table: (&raw const PC_SAMPLING).cast(),
                bytes_at_minor: RVec::new(),
            },
        ]))
    }

    /// There is nothing to stop: every function asks the runtime whether it runs.
    fn shut_down(&self) -> Result<()> {
        Ok(())
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a table has a few hundred bytes")]
const fn bytes(size: usize) -> u32 {
    size as u32
}
