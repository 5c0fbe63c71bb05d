//! Reading one configuration file over the settings.

use std::path::Path;

use toml_edit::{Document, Item, Table, TableLike};

use super::sections::Settings;
use super::setting::{Origin, Warning};

/// The section whose tables belong to plugins.
const BACKEND: &str = "backend";

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
    backends: &mut Table,
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
    backends: &mut Table,
    warnings: &mut Vec<Warning>,
) {
    for (name, item) in section.iter() {
        if item.is_table_like() {
            merge(backends, name, item);
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

/// Puts an item under a key: tables into tables, anything else in place of what was there.
pub(super) fn merge(target: &mut Table, key: &str, item: &Item) {
    let Some(source) = item.as_table_like() else {
        target.insert(key, item.clone());
        return;
    };
    if !target.get(key).is_some_and(Item::is_table) {
        // A new table has no position in a file, so that it can be written in any document.
        target.insert(key, Item::Table(Table::new()));
    }
    if let Some(table) = target.get_mut(key).and_then(Item::as_table_mut) {
        for (key, item) in source.iter() {
            merge(table, key, item);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_count_from_one() {
        let lines = Lines("a\nb\n\nc");
        assert_eq!([0, 1, 2, 4, 5].map(|at| lines.at(at)), [1, 1, 2, 3, 4]);
    }
}
