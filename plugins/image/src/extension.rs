//! The plugin: its facts and its tables.

use crate::entry::SERVING;
use crate::module::Module;
use crate::vendor;
#[allow(
    clippy::wildcard_imports,
    reason = "the rows of the tables name every function of the extension"
)]
use crate::{images::*, limits::*, samplers::*, transfers::*};
use hansa_extension_lib::serving::Installed;
use hansa_extension_lib::table::{describe, NO_ID};
use hansa_plugin_api::hsa::{
    hsa_access_permission_t, hsa_agent_info_t, hsa_agent_t, hsa_ext_image_data_info_t,
    hsa_ext_image_descriptor_v2_t, hsa_ext_image_t, hsa_status_t, ApiTableVersion, ImageExtTable,
    IMAGE_EXT_TABLE_VERSION,
};
use hansa_plugin_api::manifest::PluginFacts;
use hansa_plugin_api::{
    Error, Extension, ExtensionObject, ExtensionTable, HostRef, ImageRequest, Plugin, RVec, Result,
    RuntimeServicesRef, TableSlot,
};
use std::ffi::c_void;
use std::sync::Arc;

/// `HSA_EXTENSION_IMAGES`.
const IMAGES: u32 = 1;

/// Builds the table of the functions from its rows.
macro_rules! image_table {
    ($(($index:literal, $kind:ident, $name:ident, $field:ident, $args:tt, $ret:ty, $doc:literal))*) => {
        static FUNCTIONS: ImageExtTable = ImageExtTable { version: IMAGE_EXT_TABLE_VERSION, $($field: $name,)* };
    };
}
hansa_plugin_api::for_each_image_api!(image_table);

/// Builds the table of functions that are in no public table, and its type, from its rows.
macro_rules! others_table {
    ($(($name:ident, ($($arg:ident: $ty:ty),*), $ret:ty, $doc:literal))*) => {
        /// The functions that are in no public table.
        #[repr(C)]
        #[derive(Debug)]
        struct Others {
            version: ApiTableVersion,
            $($name: unsafe extern "C" fn($($arg: $ty),*) -> $ret,)*
        }

        static OTHERS: Others = Others { version: IMAGE_EXT_TABLE_VERSION, $($name,)* };
    };
}
hansa_plugin_api::for_each_untabled_api!(others_table);

/// The image extension as a plugin.
#[derive(Debug)]
pub struct ImagePlugin;

impl Plugin for ImagePlugin {
    const FACTS: PluginFacts = hansa_extension_lib::facts("org.hansa.image", env!("CARGO_PKG_VERSION"));

    fn extension(host: HostRef<'static>, runtime: RuntimeServicesRef<'static>) -> Result<ExtensionObject> {
        let module = Arc::new(Module::new(host, runtime));
        Ok(ExtensionObject::new(ImageExtension {
            _serving: SERVING.install(Arc::clone(&module)),
            module,
        }))
    }
}

/// The extension. While it lives it serves the functions.
#[derive(Debug)]
struct ImageExtension {
    module: Arc<Module>,
    _serving: Installed<Arc<Module>>,
}

impl Extension for ImageExtension {
    fn tables(&self) -> Result<RVec<ExtensionTable>> {
        Ok(RVec::from(vec![
            describe(
                TableSlot::IMAGE,
                IMAGES,
                "HSA_EXTENSION_IMAGES",
                (1, 0),
                &FUNCTIONS,
            ),
            describe(
                TableSlot::UNTABLED,
                NO_ID,
                "HSA_EXTENSION_IMAGES (functions in no table)",
                (1, 0),
                &OTHERS,
            ),
        ]))
    }

    /// There is nothing to stop, and the runtime frees the memory of descriptors with its own.
    fn shut_down(&self) -> Result<()> {
        Ok(())
    }

    fn agent_attribute(&self, agent: u64, attribute: u32) -> Result<RVec<u8>> {
        match attribute_value(&self.module, agent, attribute).map_err(Error::from)? {
            Some(value) => Ok(value.into()),
            None => Err(Error::not_supported("This attribute")),
        }
    }

    fn image_create(&self, request: &ImageRequest) -> Result<u64> {
        Ok(vendor::create(&self.module, request)?)
    }
}
