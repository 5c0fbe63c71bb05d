//! Reading one configuration file over the settings.

use std::fs::OpenOptions;
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use toml_edit::{Document, Item, TableLike};

use super::backends::Backends;
use super::sections::Settings;
use super::setting::{Origin, Warning};

/// The section whose tables belong to plugins.
const BACKEND: &str = "backend";

/// Most bytes of a file: more is no configuration.
const MOST_BYTES: u64 = 1 << 20;

/// Reads a file, whatever it is: a pipe that nobody writes to keeps nobody waiting, and a device that never ends is too large.
pub(super) fn read(path: &Path) -> io::Result<String> {
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(path)?;
    let mut bytes = Vec::new();
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(io::Error::other("larger than 1 MiB"));
    }
    String::from_utf8(bytes).map_err(|_| io::Error::other("not UTF-8"))
}

/// From a position in a text to its line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lines<'a>(pub(crate) &'a str);

impl Lines<'_> {
    /// The line of a byte offset, from 1.
    pub(crate) fn at(self, offset: usize) -> usize {
        1 + self.0.bytes().take(offset).filter(|b| *b == b'\n').count()
    }

    /// The line where a key of a table stands.
    pub(crate) fn of_key(self, table: &dyn TableLike, key: &str) -> usize {
        let span = table
            .get_key_value(key)
            .and_then(|(key, item)| key.span().or_else(|| item.span()));
        self.at(span.map_or(0, |span| span.start))
    }

    /// The line where the parser stopped.
    pub(crate) fn of_error(self, error: &toml_edit::TomlError) -> usize {
        self.at(error.span().map_or(0, |span| span.start))
    }
}

/// The parser's message as one line.
pub(crate) fn one_line(message: &str) -> String {
    message
        .split('\n')
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join("; ")
}

/// Puts a file's values into the settings and its plugin tables over `backends`.
pub(super) fn apply(
    path: &Path,
    text: &str,
    settings: &mut Settings,
    backends: &mut Backends,
    warnings: &mut Vec<Warning>,
) {
    let lines = Lines(text);
    let place = |line| Origin::File {
        path: path.to_owned(),
        line,
    };
    let document = match Document::parse(text) {
        Ok(document) => document,
        Err(error) => {
            let problem = format!(
                "not TOML: {}; the whole file is passed over",
                one_line(error.message())
            );
            warnings.push(Warning {
                place: place(lines.of_error(&error)),
                problem,
            });
            return;
        }
    };
    for (section, item) in document.as_table() {
        let line = lines.of_key(document.as_table(), section);
        let known = section == BACKEND || Settings::SECTIONS.contains(&section);
        let Some(table) = item.as_table_like().filter(|_| known) else {
            let what = if known {
                format!("{section} is not a table")
            } else {
                format!("unknown section [{section}]")
            };
            let sections = Settings::SECTIONS.join("], [");
            let problem = format!("{what}; expected one of [{sections}], [{BACKEND}.<id>]");
            warnings.push(Warning {
                place: place(line),
                problem,
            });
            continue;
        };
        if section == BACKEND {
            collect(table, &lines, &place, backends, warnings);
            continue;
        }
        for (key, item) in table.iter() {
            let place = place(lines.of_key(table, key));
            if let Err(problem) = set(settings, section, key, item, &place) {
                warnings.push(Warning { place, problem });
            }
        }
    }
}

fn set(settings: &mut Settings, section: &str, key: &str, item: &Item, place: &Origin) -> Result<(), String> {
    let mut keys = Vec::new();
    let mut result = None;
    settings.for_each(&mut |slot| {
        if slot.section == section {
            keys.push(slot.key);
            if slot.key == key {
                result = Some(slot.setting.set_item(item, place.clone()));
            }
        }
    });
    match result {
        Some(Ok(())) => Ok(()),
        Some(Err(form)) => {
            let found = item.to_string();
            Err(format!("{section}.{key} = {}: {form}", found.trim()))
        }
        None => Err(format!("unknown key {key}; [{section}] has {}", keys.join(", "))),
    }
}

/// Takes the tables of `[backend.<id>]` over those of an earlier file, key by key.
fn collect(
    section: &dyn TableLike,
    lines: &Lines<'_>,
    place: &dyn Fn(usize) -> Origin,
    backends: &mut Backends,
    warnings: &mut Vec<Warning>,
) {
    for (name, item) in section.iter() {
        if item.is_table_like() {
            backends.take(name, item, &|table, key| place(lines.of_key(table, key)));
        } else {
            warnings.push(Warning {
                place: place(lines.of_key(section, name)),
                problem: format!(
                    "{BACKEND}.{name} is not a table; expected [{BACKEND}.<id>] with the plugin's keys"
                ),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_any_kind_is_read_or_refused_at_once() {
        assert_eq!(read(Path::new("/dev/null")).unwrap(), "");
        let refused = |path: &Path| read(path).unwrap_err().to_string();
        assert!(refused(Path::new("/dev/zero")).contains("larger than 1 MiB"));
        let path = std::env::temp_dir().join(format!("hansa-config-pipe-{}", std::process::id()));
        let name = std::ffi::CString::new(path.to_str().unwrap()).unwrap();
        // SAFETY: the name is a string that ends in a NUL.
        assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
        assert_eq!(read(&path).unwrap(), "");
        std::fs::remove_file(&path).unwrap();
        std::fs::write(&path, [b'#', 0xff]).unwrap();
        assert!(refused(&path).contains("not UTF-8"));
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn lines_count_from_one() {
        let lines = Lines("a\nb\n\nc");
        assert_eq!([0, 1, 2, 4, 5].map(|at| lines.at(at)), [1, 1, 2, 3, 4]);
    }
}
