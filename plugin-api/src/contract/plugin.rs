//! The root module: who a plugin is and how to make what it provides.

use super::driver::DriverObject;
use super::error::{Error, RawResult, Result};
use super::extension::ExtensionObject;
use super::host::HostRef;
use super::services::RuntimeServicesRef;
use crate::manifest::PluginFacts;
use abi_stable::sabi_types::VersionStrings;
use abi_stable::std_types::{RString, RVec};
use abi_stable::StableAbi;

/// Who a plugin is. The manifest and the library's note say the same; a difference is a reason to skip it.
#[repr(C)]
#[derive(Clone, Debug, PartialEq, Eq, StableAbi)]
pub struct Identity {
    /// Reverse DNS name, such as `org.hansa.sim`.
    pub id: RString,
    /// Version, as semver writes it.
    pub version: RString,
    /// What it provides: [`Kind::code`](crate::manifest::Kind::code).
    pub kind: u32,
    /// Major number of the interface it was built for.
    pub interface_major: u32,
    /// Minor number of the interface it was built for.
    pub interface_minor: u32,
}

/// What a probe found.
#[repr(C)]
#[derive(Clone, Debug, Default, PartialEq, Eq, StableAbi)]
pub struct ProbeOutcome {
    /// One line per device: its PCI address or its device node, by which two drivers for one device are told
    /// apart. A software device gives `software:N`.
    pub devices: RVec<RString>,
}

/// The implementing side of a plugin: what a vendor writes.
pub trait Plugin: 'static {
    /// Who it is, what it claims and how it wants to be chosen.
    const FACTS: PluginFacts;

    /// Looks for devices: cheap, without side effects. No device is [`Error`] with
    /// [`ErrorCode::NO_DEVICE`](crate::ErrorCode::NO_DEVICE), or
    /// [`ErrorCode::PERMISSION`](crate::ErrorCode::PERMISSION) with errno and place.
    ///
    /// # Errors
    ///
    /// Why its devices cannot be used.
    fn probe(host: HostRef<'_>) -> Result<ProbeOutcome> {
        let _ = host;
        Ok(ProbeOutcome::default())
    }

    /// Makes the driver. `host` lives as long as the driver.
    ///
    /// # Errors
    ///
    /// Why it cannot.
    fn driver(host: HostRef<'static>) -> Result<DriverObject> {
        let _ = host;
        Err(Error::not_supported("Plugin::driver"))
    }

    /// Makes the extension. `host` and `runtime` live as long as the extension.
    ///
    /// # Errors
    ///
    /// Why it cannot.
    fn extension(host: HostRef<'static>, runtime: RuntimeServicesRef<'static>) -> Result<ExtensionObject> {
        let _ = (host, runtime);
        Err(Error::not_supported("Plugin::extension"))
    }
}

/// The functions of a plugin's root module. Built by [`PluginMod::of`], exported by
/// [`export_plugin!`](crate::export_plugin).
#[allow(
    missing_debug_implementations,
    reason = "a table of functions has nothing to show"
)]
#[repr(C)]
#[derive(StableAbi)]
#[sabi(kind(Prefix(prefix_ref = PluginModRef, prefix_fields = PluginModPrefix)))]
#[sabi(missing_field(option))]
pub struct PluginMod {
    /// Who it is. Runs no other code of the plugin.
    pub identity: extern "C" fn() -> Identity,
    /// See [`Plugin::probe`].
    pub probe: extern "C" fn(HostRef<'_>) -> RawResult<ProbeOutcome>,
    /// See [`Plugin::driver`].
    pub driver: extern "C" fn(HostRef<'static>) -> RawResult<DriverObject>,
    /// See [`Plugin::extension`].
    #[sabi(last_prefix_field)]
    pub extension: extern "C" fn(HostRef<'static>, RuntimeServicesRef<'static>) -> RawResult<ExtensionObject>,
}

impl PluginMod {
    /// The root module of a plugin.
    pub fn of<P: Plugin>() -> PluginModRef {
        struct Module<P>(std::marker::PhantomData<P>);
        impl<P: Plugin> Module<P> {
            const VALUE: &'static abi_stable::prefix_type::WithMetadata<PluginMod> =
                &abi_stable::prefix_type::WithMetadata::new(PluginMod {
                    identity: identity::<P>,
                    probe: probe::<P>,
                    driver: driver::<P>,
                    extension: extension::<P>,
                });
        }
        extern "C" fn identity<P: Plugin>() -> Identity {
            Identity {
                id: P::FACTS.id.into(),
                version: P::FACTS.version.into(),
                kind: u32::from(P::FACTS.kind.code()),
                interface_major: P::FACTS.interface.major,
                interface_minor: P::FACTS.interface.minor,
            }
        }
        extern "C" fn probe<P: Plugin>(host: HostRef<'_>) -> RawResult<ProbeOutcome> {
            crate::export::guarded("Plugin::probe", || P::probe(host))
        }
        extern "C" fn driver<P: Plugin>(host: HostRef<'static>) -> RawResult<DriverObject> {
            crate::export::guarded("Plugin::driver", || P::driver(host))
        }
        extern "C" fn extension<P: Plugin>(
            host: HostRef<'static>,
            runtime: RuntimeServicesRef<'static>,
        ) -> RawResult<ExtensionObject> {
            crate::export::guarded("Plugin::extension", || P::extension(host, runtime))
        }
        PluginModRef(Module::<P>::VALUE.static_as_prefix())
    }
}

impl abi_stable::library::RootModule for PluginModRef {
    abi_stable::declare_root_module_statics! {PluginModRef}
    const BASE_NAME: &'static str = "hansa_plugin";
    const NAME: &'static str = "hansa_plugin";
    // The interface's own numbers are in the note, the manifest and the identity; this one is part of the
    // frozen entry header and never changes.
    const VERSION_STRINGS: VersionStrings = VersionStrings::new("1.0.0");
}
