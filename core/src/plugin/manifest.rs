//! Reading a manifest: the file that says where a plugin is and what it is for.
//!
//! The form is described in [`hansa_plugin_api::manifest`]. A key of the wrong type, a missing key,
//! or a format number of the future makes the plugin unusable, with file, line and accepted form in
//! the reason. A key nobody knows is a remark: it may be meant for a newer runtime.

use std::path::{Path, PathBuf};

use hansa_plugin_api::manifest::{is_id, DefaultUse, InterfaceVersion, Kind, Policy, FORMAT};
use semver::Version;
use toml_edit::{Document, Item, TableLike};

use super::facts::Facts;
use super::reason::Reason;
use crate::config::file::{one_line, Lines};

/// A manifest that was understood.
#[derive(Clone, Debug)]
pub struct Manifest {
    /// What the plugin is.
    pub facts: Facts,
    /// The library, next to the manifest unless it says otherwise.
    pub library: PathBuf,
    /// What was not understood and does not matter.
    pub warnings: Vec<String>,
}

const TOP: [&str; 9] = [
    "format",
    "id",
    "kind",
    "version",
    "library",
    "target",
    "interface",
    "claims",
    "policy",
];
const CLAIMS: [&str; 4] = ["always", "pci", "nodes", "modules"];
const POLICY: [&str; 5] = ["priority", "default", "software", "critical", "conflicts"];

impl Manifest {
    /// Reads a manifest file.
    ///
    /// # Errors
    ///
    /// Why the plugin cannot be used.
    pub fn read(path: &Path) -> Result<Self, Reason> {
        let text = std::fs::read_to_string(path).map_err(|error| Reason::ManifestUnreadable {
            file: path.to_owned(),
            error: error.to_string(),
        })?;
        Self::parse(path, &text)
    }

    /// Reads the text of a manifest that stands at `path`.
    ///
    /// # Errors
    ///
    /// Why the plugin cannot be used.
    pub fn parse(path: &Path, text: &str) -> Result<Self, Reason> {
        let lines = Lines(text);
        let document = Document::parse(text).map_err(|error| Reason::ManifestSyntax {
            file: path.to_owned(),
            line: lines.of_error(&error),
            message: one_line(error.message()),
        })?;
        let root = document.as_table();
        let mut warnings = Vec::new();
        let top = Section {
            path,
            lines,
            table: Some(root),
            prefix: "",
        };
        let format = top.required("format", "a whole number, 1", Item::as_integer)?;
        if format > i64::from(FORMAT) {
            return Err(Reason::ManifestNewer {
                file: path.to_owned(),
                format,
                newest: FORMAT,
            });
        }
        top.required("format", "a whole number, 1", |item| {
            item.as_integer().filter(|format| *format >= 1)
        })?;
        let claims = top.table("claims")?;
        let policy = top.table("policy")?;
        top.unknown_keys(&TOP, &mut warnings);
        claims.unknown_keys(&CLAIMS, &mut warnings);
        policy.unknown_keys(&POLICY, &mut warnings);

        let library: String = top.required("library", "a path, relative to the manifest", |item| {
            item.as_str()
                .filter(|library| !library.is_empty())
                .map(str::to_owned)
        })?;
        let facts = Facts {
            id: top.required("id", "reverse DNS, such as \"org.example.accel\"", |item| {
                item.as_str().filter(|id| is_id(id)).map(str::to_owned)
            })?,
            kind: top.required("kind", "\"driver\", \"extension\" or \"both\"", |item| {
                Kind::ALL
                    .into_iter()
                    .find(|kind| Some(kind.name()) == item.as_str())
            })?,
            version: top.required("version", "a semantic version, such as \"1.0.0\"", |item| {
                Version::parse(item.as_str()?).ok()
            })?,
            target: top.required(
                "target",
                "a target triple, such as \"x86_64-unknown-linux-gnu\"",
                |item| {
                    item.as_str()
                        .filter(|target| target.contains('-'))
                        .map(str::to_owned)
                },
            )?,
            interface: top.required("interface", "\"major.minor\", such as \"1.0\"", |item| {
                interface(item.as_str()?)
            })?,
            always: claims
                .optional("always", "true or false", Item::as_bool)?
                .unwrap_or(false),
            pci: claims.texts(
                "pci",
                "globs over vendor:device, such as [\"1002:*\"]",
                is_pci_glob,
            )?,
            nodes: claims.texts("nodes", "absolute paths, such as [\"/dev/kfd\"]", |node| {
                node.starts_with('/')
            })?,
            modules: claims.texts("modules", "kernel modules, such as [\"amdgpu\"]", |name| {
                !name.contains('/')
            })?,
            priority: policy
                .optional("priority", "a whole number", |item| {
                    i32::try_from(item.as_integer()?).ok()
                })?
                .unwrap_or(Policy::PRIORITY),
            default: policy
                .optional("default", "\"on\", \"off\" or \"only-if-no-hardware\"", |item| {
                    DefaultUse::ALL
                        .into_iter()
                        .find(|default| Some(default.name()) == item.as_str())
                })?
                .unwrap_or(DefaultUse::On),
            software: policy
                .optional("software", "true or false", Item::as_bool)?
                .unwrap_or(false),
            critical: policy
                .optional("critical", "true or false", Item::as_bool)?
                .unwrap_or(false),
            conflicts: policy.texts("conflicts", "globs over ids, such as [\"org.example.*\"]", |_| {
                true
            })?,
        };
        let library = path
            .parent()
            .map_or_else(|| library.clone().into(), |dir| dir.join(&library));
        Ok(Self {
            facts,
            library,
            warnings,
        })
    }
}

/// A table of the manifest while it is read.
struct Section<'a> {
    path: &'a Path,
    lines: Lines<'a>,
    table: Option<&'a dyn TableLike>,
    prefix: &'static str,
}

impl<'a> Section<'a> {
    fn table(&self, key: &'static str) -> Result<Self, Reason> {
        let table = match self.table.and_then(|table| table.get(key)) {
            None => None,
            Some(item) => Some(
                item.as_table_like()
                    .ok_or_else(|| self.error(key, item, "a table"))?,
            ),
        };
        let prefix = if key == "claims" { "claims." } else { "policy." };
        Ok(Self {
            path: self.path,
            lines: self.lines,
            table,
            prefix,
        })
    }

    fn unknown_keys(&self, known: &[&str], warnings: &mut Vec<String>) {
        let keys = self
            .table
            .into_iter()
            .flat_map(|table| table.iter().map(move |(key, _)| (table, key)));
        for (table, key) in keys.filter(|(_, key)| !known.contains(key)) {
            warnings.push(format!(
                "{}:{}: unknown key {}{key}; known here are {}",
                self.path.display(),
                self.lines.of_key(table, key),
                self.prefix,
                known.join(", ")
            ));
        }
    }

    fn optional<T>(
        &self,
        key: &str,
        form: &str,
        read: impl Fn(&Item) -> Option<T>,
    ) -> Result<Option<T>, Reason> {
        match self.table.and_then(|table| table.get(key)) {
            None => Ok(None),
            Some(item) => read(item).map(Some).ok_or_else(|| self.error(key, item, form)),
        }
    }

    fn required<T>(&self, key: &str, form: &str, read: impl Fn(&Item) -> Option<T>) -> Result<T, Reason> {
        self.optional(key, form, read)?
            .ok_or_else(|| Reason::ManifestKey {
                file: self.path.to_owned(),
                line: 1,
                key: format!("{}{key}", self.prefix),
                found: None,
                accepted: form.to_owned(),
            })
    }

    fn texts(&self, key: &str, form: &str, good: impl Fn(&str) -> bool) -> Result<Vec<String>, Reason> {
        let read = |item: &Item| {
            let texts = item
                .as_array()?
                .iter()
                .map(|value| value.as_str().filter(|text| good(text)).map(str::to_owned));
            texts.collect()
        };
        Ok(self.optional(key, form, read)?.unwrap_or_default())
    }

    fn error(&self, key: &str, item: &Item, accepted: &str) -> Reason {
        Reason::ManifestKey {
            file: self.path.to_owned(),
            line: self.table.map_or(1, |table| self.lines.of_key(table, key)),
            key: format!("{}{key}", self.prefix),
            found: Some(item.to_string().trim().to_owned()),
            accepted: accepted.to_owned(),
        }
    }
}

fn interface(text: &str) -> Option<InterfaceVersion> {
    let (major, minor) = text.split_once('.')?;
    Some(InterfaceVersion {
        major: major.parse().ok()?,
        minor: minor.parse().ok()?,
    })
}

fn is_pci_glob(text: &str) -> bool {
    let part = |part: &str| {
        !part.is_empty()
            && part
                .bytes()
                .all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f' | b'*' | b'?'))
    };
    text.split_once(':')
        .is_some_and(|(vendor, device)| part(vendor) && part(device))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"format = 1
id = "org.example.accel"
kind = "driver"
version = "1.2.3"
library = "libaccel.so"
target = "x86_64-unknown-linux-gnu"
interface = "1.0"

[claims]
pci = ["1234:*"]
nodes = ["/dev/accel/accel*"]
modules = ["example"]

[policy]
priority = 60
default = "only-if-no-hardware"
software = true
critical = true
conflicts = ["org.example.old*"]
"#;

    fn parse(text: &str) -> Result<Manifest, Reason> {
        Manifest::parse(Path::new("/plugins/50-org.example.accel.toml"), text)
    }

    fn key_error(from: &str, to: &str) -> (String, usize, Option<String>, String) {
        assert!(GOOD.contains(from), "{from}");
        match parse(&GOOD.replace(from, to)) {
            Err(Reason::ManifestKey {
                key,
                line,
                found,
                accepted,
                ..
            }) => (key, line, found, accepted),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_whole_manifest_is_understood() {
        let manifest = parse(GOOD).unwrap();
        assert_eq!(manifest.library, Path::new("/plugins/libaccel.so"));
        assert_eq!(manifest.warnings, [""; 0]);
        let facts = manifest.facts;
        assert_eq!(
            (facts.id.as_str(), facts.kind, facts.version),
            ("org.example.accel", Kind::Driver, Version::new(1, 2, 3))
        );
        assert_eq!(
            (facts.interface.major, facts.interface.minor, facts.priority),
            (1, 0, 60)
        );
        assert_eq!(
            (facts.always, facts.software, facts.critical),
            (false, true, true)
        );
        assert_eq!(
            (facts.pci, facts.nodes),
            (vec!["1234:*".into()], vec!["/dev/accel/accel*".into()])
        );
        assert_eq!(
            (facts.modules, facts.conflicts),
            (vec!["example".into()], vec!["org.example.old*".into()])
        );
        assert_eq!(facts.default, DefaultUse::OnlyIfNoHardware);
    }

    #[test]
    fn what_facts_write_a_manifest_reads() {
        let facts = parse(GOOD).unwrap().facts;
        let again = parse(&facts.to_toml("x.so")).unwrap();
        assert_eq!((again.facts, again.library), (facts, "/plugins/x.so".into()));
    }

    #[test]
    fn claims_and_policy_may_be_missing() {
        let facts = parse(&GOOD[..GOOD.find("[claims]").unwrap()]).unwrap().facts;
        assert_eq!(
            (facts.priority, facts.default, facts.claims_text().len()),
            (50, DefaultUse::On, 0)
        );
    }

    #[test]
    fn each_wrong_key_is_named_with_its_line_and_form() {
        let some = |found: &str| Some(found.to_owned());
        assert_eq!(
            key_error("kind = \"driver\"", "kind = 7"),
            (
                "kind".into(),
                3,
                some("7"),
                "\"driver\", \"extension\" or \"both\"".into()
            )
        );
        assert_eq!(key_error("\"1.2.3\"", "\"1.2\"").0, "version");
        assert_eq!(key_error("org.example.accel", "accel").0, "id");
        assert_eq!(key_error("interface = \"1.0\"", "interface = 1.0").2, some("1.0"));
        assert_eq!(key_error("[\"1234:*\"]", "[\"1234\"]").0, "claims.pci");
        assert_eq!(key_error("[\"1234:*\"]", "\"1234:*\"").1, 10);
        assert_eq!(
            key_error("priority = 60", "priority = \"high\"").0,
            "policy.priority"
        );
        assert_eq!(
            key_error("default = \"only-if-no-hardware\"", "default = true").1,
            16
        );
        assert_eq!(key_error("software = true", "software = 1").0, "policy.software");
        assert_eq!(key_error("format = 1", "format = 0").0, "format");
    }

    #[test]
    fn each_missing_key_is_named() {
        for key in &TOP[..7] {
            let text: String = GOOD
                .lines()
                .filter(|line| !line.starts_with(key))
                .map(|line| format!("{line}\n"))
                .collect();
            let Err(Reason::ManifestKey {
                key: missing,
                found: None,
                ..
            }) = parse(&text)
            else {
                panic!("{key}");
            };
            assert_eq!(missing, *key);
        }
    }

    #[test]
    fn unknown_keys_are_remarks() {
        let text = GOOD
            .replace("[policy]", "[policy]\ncolour = 1")
            .replace("kind =", "licence = \"MIT\"\nkind =");
        let warnings = parse(&text).unwrap().warnings;
        assert!(
            warnings[0].starts_with("/plugins/50-org.example.accel.toml:3: unknown key licence;"),
            "{warnings:?}"
        );
        assert!(
            warnings[1].contains(":16: unknown key policy.colour;"),
            "{warnings:?}"
        );
    }

    #[test]
    fn a_newer_format_is_its_own_reason_whatever_else_is_wrong() {
        let text = GOOD
            .replace("format = 1", "format = 2")
            .replace("\"driver\"", "\"future\"");
        assert!(matches!(
            parse(&text),
            Err(Reason::ManifestNewer {
                format: 2,
                newest: 1,
                ..
            })
        ));
    }

    #[test]
    fn what_is_not_toml_names_the_line() {
        assert!(matches!(
            parse("format = 1\nid = \n"),
            Err(Reason::ManifestSyntax { line: 2, .. })
        ));
    }
}
