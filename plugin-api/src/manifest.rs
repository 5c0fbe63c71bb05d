//! What a plugin says about itself before any of its code runs.
//!
//! A vendor writes these facts once, as a constant, beside the export macro. From there they reach
//! three places: the ELF note in the library ([`crate::note`]), the manifest file that a package
//! installs beside the library, and, for a plugin linked into the
//! runtime, the table of built-ins. The runtime reads the first two and compares them.
//!
//! ```toml
//! format = 1
//! id = "org.example.accel"
//! kind = "driver"                      # driver, extension or both
//! version = "1.2.3"
//! library = "libexample_accel.so"      # relative to this file
//! target = "x86_64-unknown-linux-gnu"
//! interface = "1.0"                    # major.minor of the contract it was built with
//!
//! [claims]                             # any one that is present is enough
//! pci = ["1234:*"]
//! nodes = ["/dev/accel/accel*"]
//! modules = ["example"]
//! always = false
//!
//! [policy]
//! priority = 50
//! default = "on"                       # on, off or only-if-no-hardware
//! software = false
//! critical = false
//! conflicts = []
//! ```

/// The newest manifest format this crate describes.
pub const FORMAT: u32 = 1;

/// The name of the directory, below a library or configuration directory, that holds manifests.
pub const DIRECTORY: &str = "hansa/plugins.d";

/// What a plugin provides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A driver for a device.
    Driver,
    /// Extension function tables.
    Extension,
    /// A driver and extension function tables.
    Both,
}

impl Kind {
    /// Every kind, in the order of its code in the note.
    pub const ALL: [Self; 3] = [Self::Driver, Self::Extension, Self::Both];

    /// The word a manifest uses.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Driver => "driver",
            Self::Extension => "extension",
            Self::Both => "both",
        }
    }

    /// The code a note uses.
    pub const fn code(self) -> u8 {
        match self {
            Self::Driver => 0,
            Self::Extension => 1,
            Self::Both => 2,
        }
    }

    /// Whether a driver is part of it.
    pub const fn has_driver(self) -> bool {
        matches!(self, Self::Driver | Self::Both)
    }

    /// Whether an extension is part of it.
    pub const fn has_extension(self) -> bool {
        matches!(self, Self::Extension | Self::Both)
    }
}

/// Whether a plugin serves when nobody asked for it by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DefaultUse {
    /// It serves whenever what it claims is present.
    On,
    /// It serves only when the configuration enables it or selects it by name.
    Off,
    /// It serves when no hardware driver does, or when it is enabled or selected by name.
    OnlyIfNoHardware,
}

impl DefaultUse {
    /// Every value, in the order of its code in the note.
    pub const ALL: [Self; 3] = [Self::On, Self::Off, Self::OnlyIfNoHardware];

    /// The word a manifest uses.
    pub const fn name(self) -> &'static str {
        match self {
            Self::On => "on",
            Self::Off => "off",
            Self::OnlyIfNoHardware => "only-if-no-hardware",
        }
    }

    /// The code a note uses.
    pub const fn code(self) -> u8 {
        match self {
            Self::On => 0,
            Self::Off => 1,
            Self::OnlyIfNoHardware => 2,
        }
    }
}

/// What must be present for a plugin to be worth loading. Any one of them is enough; the plugin's
/// own probe then says exactly what it found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claims {
    /// It needs no device.
    pub always: bool,
    /// Globs over `vendor:device`, four lower-case hexadecimal digits each, such as `1002:*`.
    pub pci: &'static [&'static str],
    /// Globs over device nodes, such as `/dev/accel/accel*`.
    pub nodes: &'static [&'static str],
    /// Names of kernel modules, as in `/sys/module`.
    pub modules: &'static [&'static str],
}

impl Claims {
    /// Claims nothing; a base for struct update syntax.
    pub const NONE: Self = Self {
        always: false,
        pci: &[],
        nodes: &[],
        modules: &[],
    };
    /// Needs no device.
    pub const ALWAYS: Self = Self {
        always: true,
        ..Self::NONE
    };
}

/// How a plugin wants to be chosen. The manifest of an installation may say otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// The higher one gets a device that two drivers claim.
    pub priority: i32,
    /// Whether it serves unasked.
    pub default: DefaultUse,
    /// It computes on the host's processors and stands back for hardware.
    pub software: bool,
    /// The runtime must not start without it.
    pub critical: bool,
    /// Globs over plugin ids that must not be loaded beside it.
    pub conflicts: &'static [&'static str],
}

impl Policy {
    /// The priority of a plugin that does not name one.
    pub const PRIORITY: i32 = 50;
    /// A hardware plugin that serves when its device is present.
    pub const DEFAULT: Self = Self {
        priority: Self::PRIORITY,
        default: DefaultUse::On,
        software: false,
        critical: false,
        conflicts: &[],
    };
}

/// A version of the contract between runtime and plugin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InterfaceVersion {
    /// Different majors do not work together.
    pub major: u32,
    /// Different minors of one major do.
    pub minor: u32,
}

/// Everything a plugin says about itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PluginFacts {
    /// Reverse DNS, such as `org.example.accel`.
    pub id: &'static str,
    /// What it provides.
    pub kind: Kind,
    /// Semantic version, usually `env!("CARGO_PKG_VERSION")`.
    pub version: &'static str,
    /// What it was compiled for, usually [`TARGET`].
    pub target: &'static str,
    /// The contract it was built with.
    pub interface: InterfaceVersion,
    /// What must be present.
    pub claims: Claims,
    /// How it wants to be chosen.
    pub policy: Policy,
}

impl PluginFacts {
    /// Stops the build, when called in a constant, if the facts could not be a manifest.
    pub const fn checked(self) -> Self {
        assert!(
            is_id(self.id),
            "A plugin id is reverse DNS: words of a-z, 0-9, - and _ joined by dots"
        );
        assert!(
            !self.version.is_empty(),
            "A plugin has a semantic version such as 1.0.0"
        );
        assert!(
            !self.target.is_empty(),
            "A plugin names the target it was compiled for"
        );
        self
    }
}

/// Whether a text is a plugin id: at least two words joined by dots, each of `a-z`, `0-9`, `-`, `_`
/// and beginning with a letter or digit.
pub const fn is_id(text: &str) -> bool {
    let bytes = text.as_bytes();
    let mut dots = 0;
    let mut at_start = true;
    let mut i = 0;
    while i < bytes.len() {
        match bytes[i] {
            b'a'..=b'z' | b'0'..=b'9' => at_start = false,
            b'-' | b'_' if !at_start => {}
            b'.' if !at_start => {
                dots += 1;
                at_start = true;
            }
            _ => return false,
        }
        i += 1;
    }
    dots > 0 && !at_start
}

/// The target triple this crate is compiled for.
pub const TARGET: &str = target();

const fn target() -> &'static str {
    macro_rules! triples {
        ($($arch:literal $endian:literal $env:literal => $triple:literal),* $(,)?) => {
            $(if cfg!(all(target_arch = $arch, target_endian = $endian, target_env = $env)) { return $triple; })*
        };
    }
    triples! {
        "x86_64" "little" "gnu" => "x86_64-unknown-linux-gnu",
        "x86_64" "little" "musl" => "x86_64-unknown-linux-musl",
        "aarch64" "little" "gnu" => "aarch64-unknown-linux-gnu",
        "aarch64" "little" "musl" => "aarch64-unknown-linux-musl",
        "riscv64" "little" "gnu" => "riscv64gc-unknown-linux-gnu",
        "powerpc64" "little" "gnu" => "powerpc64le-unknown-linux-gnu",
        "loongarch64" "little" "gnu" => "loongarch64-unknown-linux-gnu",
    }
    "unknown-unknown-linux-unknown"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_reverse_dns() {
        for good in [
            "org.hansa.sim",
            "com.example.fast-gpu_2",
            "a.b",
            "org.3dfx.voodoo",
        ] {
            assert!(is_id(good), "{good}");
        }
        for bad in [
            "",
            "sim",
            ".sim",
            "org..sim",
            "org.sim.",
            "Org.sim",
            "org.-sim",
            "org.s im",
            "org/sim.x",
        ] {
            assert!(!is_id(bad), "{bad}");
        }
    }
}
