//! The tables `[backend.<id>]`: what the configuration says to plugins, each key with the place it came from.
//!
//! A table may be named by the end of a plugin's id, `sim` for `org.hansa.sim`, or by the whole id, with or without
//! quotes; a key under the longer name wins.

use super::setting::Origin;
use std::collections::BTreeMap;
use toml_edit::{DocumentMut, Item, Table, TableLike};

/// Where a key of a table stands.
pub(super) type Place<'a> = &'a dyn Fn(&dyn TableLike, &str) -> Origin;

/// What is said to plugins.
#[derive(Clone, Debug, Default)]
pub(super) struct Backends {
    tables: DocumentMut,
    /// Where each value came from, by the keys that lead to it, with dots between.
    origins: BTreeMap<String, Origin>,
}

impl Backends {
    /// Takes a table over what is there under its name, key by key.
    pub(super) fn take(&mut self, name: &str, item: &Item, place: Place<'_>) {
        merge(&mut self.tables, name, item);
        self.remember(name, item, place);
    }

    fn remember(&mut self, path: &str, item: &Item, place: Place<'_>) {
        let Some(table) = item.as_table_like() else { return };
        for (key, item) in table.iter() {
            let path = format!("{path}.{key}");
            if item.is_table_like() {
                self.remember(&path, item, place);
            } else {
                self.origins.insert(path, place(table, key));
            }
        }
    }

    /// The names of the tables that no plugin answers to.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.tables.iter().map(|(name, _)| name)
    }

    /// What is said to one plugin.
    pub(super) fn of(&self, id: &str) -> DocumentMut {
        let mut document = DocumentMut::new();
        let mut names: Vec<&str> = self.names().filter(|name| answers_to(id, name)).collect();
        names.sort_by_key(|name| name.len());
        let unquoted = id
            .split('.')
            .try_fold(self.tables.as_item(), |item, word| item.get(word));
        let tables = names
            .into_iter()
            .filter_map(|name| self.tables.get(name))
            .chain(unquoted);
        for (key, item) in tables.filter_map(Item::as_table).flat_map(Table::iter) {
            merge(&mut document, key, item);
        }
        document
    }

    /// Where each key of one plugin's table came from.
    pub(super) fn origins(&self, id: &str) -> BTreeMap<String, Origin> {
        let mut found = Vec::new();
        for (path, origin) in &self.origins {
            let dots = path.match_indices('.').map(|(at, _)| at);
            let name = dots.filter(|&at| answers_to(id, &path[..at])).max();
            found.extend(name.map(|at| (at, path[at + 1..].to_owned(), origin.clone())));
        }
        // The longer name wins.
        found.sort_by_key(|(length, ..)| *length);
        found.into_iter().map(|(_, key, origin)| (key, origin)).collect()
    }

    /// Where a table stands: where its first value does.
    pub(super) fn place(&self, name: &str) -> Origin {
        let inside = |path: &str| path.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'));
        let first = self.origins.iter().find(|(path, _)| inside(path));
        first.map_or(Origin::Default, |(_, origin)| origin.clone())
    }

    /// Every value: the keys that lead to it with dots between, the value as TOML writes it, and where it came from.
    pub(super) fn values(&self) -> Vec<(String, String, Origin)> {
        let mut values = Vec::new();
        self.list("", self.tables.as_table(), &mut values);
        values
    }

    fn list(&self, path: &str, table: &Table, values: &mut Vec<(String, String, Origin)>) {
        for (key, item) in table {
            let path = if path.is_empty() {
                key.to_owned()
            } else {
                format!("{path}.{key}")
            };
            match item {
                Item::Table(table) => self.list(&path, table, values),
                item => {
                    let origin = self.origins.get(&path).cloned().unwrap_or(Origin::Default);
                    let text = item.to_string();
                    let lines: Vec<&str> = text.lines().map(str::trim).collect();
                    values.push((path, lines.join(" ").trim().to_owned(), origin));
                }
            }
        }
    }
}

/// Whether a plugin answers to a name: its whole id, or the end of it after a dot.
pub fn answers_to(id: &str, name: &str) -> bool {
    id == name || id.strip_suffix(name).is_some_and(|rest| rest.ends_with('.'))
}

/// Puts an item under a key: tables into tables, anything else in place of what was there.
fn merge(target: &mut Table, key: &str, item: &Item) {
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
