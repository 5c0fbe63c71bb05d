//! The one macro a plugin's thin `cdylib` needs, and what it expands to.

pub use crate::contract::interface::{guarded, panic_text};
use crate::{Plugin, PluginMod};
use abi_stable::library::{CheckTypeLayout, LibHeader, RootModuleResult};

extern "C" fn root_module<P: Plugin>() -> RootModuleResult {
    abi_stable::library::__call_root_module_loader(PluginMod::of::<P>)
}

/// The header of a shared object whose root module is that of `P`.
#[doc(hidden)]
pub const fn header<P: Plugin>() -> LibHeader {
    // SAFETY: `root_module` answers with a `PluginModRef`, the module type named here.
    unsafe { LibHeader::from_constructor::<crate::PluginModRef>(root_module::<P>, CheckTypeLayout::Yes) }
}

/// Exports a [`Plugin`](crate::Plugin) as this shared object's root module, with its facts as an ELF note.
///
/// ```text
/// hansa_plugin_api::export_plugin!(my_driver::MyPlugin);
/// ```
///
/// The exported name is the one that `abi_stable` 0.11 looks up; it belongs to the frozen entry header.
#[macro_export]
macro_rules! export_plugin {
    ($Plugin:ty) => {
        #[doc(hidden)]
        #[export_name = "_1as_0lib_1header_0root_bmodule_bloader"]
        pub static HANSA_PLUGIN: $crate::abi_stable::library::LibHeader = $crate::export::header::<$Plugin>();

        #[doc(hidden)]
        #[used]
        #[link_section = ".note.hansa"]
        pub static HANSA_NOTE: $crate::note::Note<
            { $crate::note::size(&<$Plugin as $crate::Plugin>::FACTS) },
        > = $crate::note::Note::new(&<$Plugin as $crate::Plugin>::FACTS);
    };
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_exported_name_is_the_one_that_is_looked_up() {
        let source = include_str!("export.rs");
        let line = format!(
            "#[export_name = \"{}\"]",
            abi_stable::library::ROOT_MODULE_LOADER_NAME
        );
        assert!(source.contains(&line), "{line}");
    }
}
