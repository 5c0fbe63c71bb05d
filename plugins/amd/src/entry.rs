//! The services that the functions of this extension are made with.

pub(crate) use hansa_extension_lib::outcome::{argument, ensure, Failure, Outcome};
use hansa_extension_lib::quick::QuickServing;
use hansa_extension_lib::serving::Serves;
use hansa_plugin_api::{
    CopyServicesRef, Error, HostRef, LoaderServicesRef, MemoryServicesRef, QueueServicesRef,
    RuntimeServicesRef, SharingServicesRef, SignalServicesRef,
};

/// The runtime as this extension sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Services {
    host: HostRef<'static>,
    runtime: RuntimeServicesRef<'static>,
    memory: Option<MemoryServicesRef<'static>>,
    sharing: Option<SharingServicesRef<'static>>,
    signals: Option<SignalServicesRef<'static>>,
    copies: Option<CopyServicesRef<'static>>,
    queues: Option<QueueServicesRef<'static>>,
    loader: Option<LoaderServicesRef<'static>>,
}

/// A group that the runtime may lack.
macro_rules! groups {
    ($($group:ident: $Ref:ident),* $(,)?) => {
        $(
            #[doc = concat!("The group `", stringify!($group), "`.")]
            pub(crate) fn $group(&self) -> Outcome<$Ref<'static>> {
                self.$group.ok_or_else(|| Failure::Service(Error::not_supported(concat!("RuntimeServices::", stringify!($group)))))
            }
        )*
    };
}

impl Services {
    /// Asks the runtime for its groups once.
    pub(crate) fn new(host: HostRef<'static>, runtime: RuntimeServicesRef<'static>) -> Self {
        Self {
            host,
            runtime,
            memory: runtime.memory().ok(),
            sharing: runtime.sharing().ok(),
            signals: runtime.signals().ok(),
            copies: runtime.copies().ok(),
            queues: runtime.queues().ok(),
            loader: runtime.loader().ok(),
        }
    }

    groups! {
        memory: MemoryServicesRef,
        sharing: SharingServicesRef,
        signals: SignalServicesRef,
        copies: CopyServicesRef,
        queues: QueueServicesRef,
        loader: LoaderServicesRef,
    }
}

impl Serves for Services {
    fn host(&self) -> HostRef<'static> {
        self.host
    }

    fn runtime(&self) -> RuntimeServicesRef<'static> {
        self.runtime
    }
}

/// The services of the extensions that live.
pub(crate) static SERVING: QuickServing<Services> = QuickServing::new();

/// Declares the functions of this extension.
macro_rules! entries {
    ($($functions:tt)*) => { hansa_extension_lib::entries! { [$crate::entry::SERVING] $($functions)* } };
}
pub(crate) use entries;
