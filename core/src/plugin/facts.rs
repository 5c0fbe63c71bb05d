//! What a plugin says about itself, from whichever of its three sources.

use std::cmp::Ordering;

use hansa_plugin_api::manifest::{self, Claims, DefaultUse, InterfaceVersion, Kind, PluginFacts, Policy};
use semver::Version;
use toml_edit::{DocumentMut, Item, Table};

use super::reason::Reason;

/// The facts of a plugin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Reverse DNS.
    pub id: String,
    /// What it provides.
    pub kind: Kind,
    /// Its version.
    pub version: Version,
    /// The target triple it was compiled for.
    pub target: String,
    /// The contract it was built with.
    pub interface: InterfaceVersion,
    /// It needs no device.
    pub always: bool,
    /// Globs over PCI `vendor:device`.
    pub pci: Vec<String>,
    /// Globs over device nodes.
    pub nodes: Vec<String>,
    /// Kernel modules.
    pub modules: Vec<String>,
    /// The higher one gets a device.
    pub priority: i32,
    /// Whether it serves unasked.
    pub default: DefaultUse,
    /// It computes on the host's processors.
    pub software: bool,
    /// The runtime must not start without it.
    pub critical: bool,
    /// Globs over ids it must not be loaded beside.
    pub conflicts: Vec<String>,
}

impl Facts {
    /// The facts a plugin's constant holds.
    ///
    /// # Errors
    ///
    /// When the version is not a semantic one.
    pub fn of(facts: &PluginFacts) -> Result<Self, semver::Error> {
        let owned = |items: &[&str]| items.iter().map(|item| (*item).to_owned()).collect();
        let Claims {
            always,
            pci,
            nodes,
            modules,
        } = facts.claims;
        let Policy {
            priority,
            default,
            software,
            critical,
            conflicts,
        } = facts.policy;
        Ok(Self {
            id: facts.id.to_owned(),
            kind: facts.kind,
            version: facts.version.parse()?,
            target: facts.target.to_owned(),
            interface: facts.interface,
            always,
            pci: owned(pci),
            nodes: owned(nodes),
            modules: owned(modules),
            priority,
            default,
            software,
            critical,
            conflicts: owned(conflicts),
        })
    }

    /// The conventional name of the manifest file.
    pub fn file_name(&self) -> String {
        format!("{:02}-{}.toml", self.priority.clamp(0, 99), self.id)
    }

    /// The text of the manifest file for a library of this name.
    pub fn to_toml(&self, library: &str) -> String {
        let list = |items: &[String]| toml_edit::value(items.iter().collect::<toml_edit::Array>());
        let mut document = DocumentMut::new();
        document["format"] = toml_edit::value(i64::from(manifest::FORMAT));
        document["id"] = toml_edit::value(&self.id);
        document["kind"] = toml_edit::value(self.kind.name());
        document["version"] = toml_edit::value(self.version.to_string());
        document["library"] = toml_edit::value(library);
        document["target"] = toml_edit::value(&self.target);
        document["interface"] = toml_edit::value(interface_text(self.interface));
        let mut claims = Table::new();
        claims["always"] = toml_edit::value(self.always);
        claims["pci"] = list(&self.pci);
        claims["nodes"] = list(&self.nodes);
        claims["modules"] = list(&self.modules);
        document["claims"] = Item::Table(claims);
        let mut policy = Table::new();
        policy["priority"] = toml_edit::value(i64::from(self.priority));
        policy["default"] = toml_edit::value(self.default.name());
        policy["software"] = toml_edit::value(self.software);
        policy["critical"] = toml_edit::value(self.critical);
        policy["conflicts"] = list(&self.conflicts);
        document["policy"] = Item::Table(policy);
        document.to_string()
    }

    /// Compares a manifest with the note of its library. What the library *is* must agree. How it is
    /// chosen (priority, default use, critical, conflicts) is the installation's to say, and so is a
    /// version above the library's own, which is how a packager raises one copy over another; that
    /// much is answered as a remark.
    ///
    /// # Errors
    ///
    /// The first field that differs, with both values.
    pub fn agree_with_note(&self, note: &Self) -> Result<Option<String>, Reason> {
        let differs = |field: &str, manifest: String, note: String| Reason::NoteDisagrees {
            field: field.to_owned(),
            manifest,
            note,
        };
        for ((field, manifest), (_, note)) in self.identity().into_iter().zip(note.identity()) {
            if manifest != note {
                return Err(differs(field, manifest, note));
            }
        }
        match self.version.cmp(&note.version) {
            Ordering::Less => Err(differs(
                "version",
                self.version.to_string(),
                note.version.to_string(),
            )),
            Ordering::Equal => Ok(None),
            Ordering::Greater => Ok(Some(format!(
                "the manifest says version {}, above the library's own {}",
                self.version, note.version
            ))),
        }
    }

    /// What the library is, field by field.
    fn identity(&self) -> [(&'static str, String); 9] {
        [
            ("id", self.id.clone()),
            ("kind", self.kind.name().to_owned()),
            ("target", self.target.clone()),
            ("interface", interface_text(self.interface)),
            ("claims.always", self.always.to_string()),
            ("claims.pci", self.pci.join(", ")),
            ("claims.nodes", self.nodes.join(", ")),
            ("claims.modules", self.modules.join(", ")),
            ("policy.software", self.software.to_string()),
        ]
    }

    /// What it looks for, for a person.
    pub fn claims_text(&self) -> Vec<String> {
        let pci = self.pci.iter().map(|glob| format!("PCI {glob}"));
        let modules = self
            .modules
            .iter()
            .map(|module| format!("kernel module {module}"));
        pci.chain(self.nodes.iter().cloned()).chain(modules).collect()
    }
}

/// An interface version as manifests write it.
pub fn interface_text(version: InterfaceVersion) -> String {
    format!("{}.{}", version.major, version.minor)
}

/// Whether code for one target triple runs where code for another does: processor, system and C
/// library count, the vendor in the middle does not.
pub fn same_target(one: &str, other: &str) -> bool {
    fn parts(triple: &str) -> Vec<&str> {
        let mut parts: Vec<&str> = triple.split('-').collect();
        if parts.len() == 4 {
            parts.remove(1);
        }
        if let Some(arch) = parts.first_mut().filter(|arch| **arch == "riscv64gc") {
            *arch = "riscv64";
        }
        parts
    }
    parts(one) == parts(other)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Facts of a plugin that does not exist.
    pub(in crate::plugin) const FACTS: PluginFacts = PluginFacts {
        id: "org.example.accel",
        kind: Kind::Driver,
        version: "1.2.3",
        target: manifest::TARGET,
        interface: InterfaceVersion { major: 1, minor: 0 },
        claims: Claims {
            pci: &["1234:*"],
            nodes: &["/dev/example*"],
            ..Claims::NONE
        },
        policy: Policy::DEFAULT,
    };

    fn facts() -> Facts {
        Facts::of(&FACTS).unwrap()
    }

    fn disagreement(change: impl FnOnce(&mut Facts)) -> String {
        let mut manifest = facts();
        change(&mut manifest);
        match manifest.agree_with_note(&facts()) {
            Err(Reason::NoteDisagrees {
                field,
                manifest,
                note,
            }) => format!("{field}: {manifest} / {note}"),
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn what_the_library_is_must_agree() {
        assert_eq!(
            disagreement(|f| f.id = "org.example.other".into()),
            "id: org.example.other / org.example.accel"
        );
        assert_eq!(disagreement(|f| f.kind = Kind::Both), "kind: both / driver");
        assert_eq!(disagreement(|f| f.interface.minor = 9), "interface: 1.9 / 1.0");
        assert_eq!(disagreement(|f| f.pci.clear()), "claims.pci:  / 1234:*");
        assert_eq!(
            disagreement(|f| f.software = true),
            "policy.software: true / false"
        );
        assert_eq!(
            disagreement(|f| f.version = Version::new(1, 2, 2)),
            "version: 1.2.2 / 1.2.3"
        );
    }

    #[test]
    fn how_it_is_chosen_is_the_installations_to_say() {
        let mut manifest = facts();
        assert_eq!(manifest.agree_with_note(&facts()), Ok(None));
        manifest.priority = 9;
        manifest.critical = true;
        manifest.default = DefaultUse::Off;
        manifest.conflicts.push("*".into());
        manifest.version = Version::new(9, 0, 0);
        let remark = manifest.agree_with_note(&facts()).unwrap().unwrap();
        assert_eq!(
            remark,
            "the manifest says version 9.0.0, above the library's own 1.2.3"
        );
    }

    #[test]
    fn the_vendor_of_a_target_does_not_count() {
        assert!(same_target("x86_64-unknown-linux-gnu", "x86_64-pc-linux-gnu"));
        assert!(same_target("x86_64-linux-gnu", "x86_64-unknown-linux-gnu"));
        assert!(!same_target(
            "x86_64-unknown-linux-gnu",
            "aarch64-unknown-linux-gnu"
        ));
        assert!(!same_target(
            "x86_64-unknown-linux-gnu",
            "x86_64-unknown-linux-musl"
        ));
    }

    #[test]
    fn the_file_name_has_the_priority_and_the_id() {
        assert_eq!(facts().file_name(), "50-org.example.accel.toml");
    }
}
