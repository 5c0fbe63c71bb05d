//! A value that knows where it came from, and the warning when it could not be used.

use std::fmt;
use std::path::PathBuf;

use serde::{Serialize, Serializer};

use super::value::{Dialect, Value};

/// Where a setting's value came from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// Nobody set it.
    Default,
    /// A line of a configuration file.
    File {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
    },
    /// An environment variable.
    Variable(String),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File { path, line } => write!(f, "{}:{line}", path.display()),
            Self::Variable(name) => f.write_str(name),
        }
    }
}

impl Serialize for Origin {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A value and its origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting<T> {
    /// The value.
    pub value: T,
    /// Where it came from.
    pub origin: Origin,
}

impl<T> Setting<T> {
    /// A value nobody set.
    pub const fn default(value: T) -> Self {
        Self {
            value,
            origin: Origin::Default,
        }
    }

    /// The value as TOML writes it.
    pub fn value_shown(&self) -> String
    where
        T: Value,
    {
        self.value.show()
    }

    /// Whether a file or a variable set it.
    pub fn is_set(&self) -> bool {
        self.origin != Origin::Default
    }
}

/// Something in a configuration file or a variable that was not used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize)]
#[error("{place}: {problem}")]
pub struct Warning {
    /// The file and line, or the variable.
    pub place: Origin,
    /// What is wrong, the accepted form, and what holds instead.
    pub problem: String,
}

/// A setting whose type is not known here: what the file and variable readers work on.
pub(super) trait AnySetting {
    /// Takes a value from a file, or says which form is accepted.
    fn set_item(&mut self, item: &toml_edit::Item, origin: Origin) -> Result<(), String>;
    /// Takes a value from a variable, or says which form is accepted.
    fn set_text(&mut self, text: &std::ffi::OsStr, dialect: Dialect, name: &str) -> Result<(), String>;
    /// Whether an empty variable is a value rather than no variable.
    fn empty_is_a_value(&self) -> bool;
    /// The value as TOML writes it.
    fn show(&self) -> String;
    /// Where it came from.
    fn origin(&self) -> &Origin;
}

impl<T: Value> Setting<T> {
    fn take(&mut self, value: Option<T>, origin: Origin, form: &str) -> Result<(), String> {
        match value {
            Some(value) => {
                *self = Self { value, origin };
                Ok(())
            }
            None => Err(format!(
                "expected {form}; it stays {} ({})",
                self.value.show(),
                self.origin
            )),
        }
    }
}

impl<T: Value> AnySetting for Setting<T> {
    fn set_item(&mut self, item: &toml_edit::Item, origin: Origin) -> Result<(), String> {
        self.take(T::from_item(item), origin, T::FORM)
    }

    fn set_text(&mut self, text: &std::ffi::OsStr, dialect: Dialect, name: &str) -> Result<(), String> {
        self.take(
            T::from_text(text, dialect),
            Origin::Variable(name.to_owned()),
            T::form(dialect),
        )
    }

    fn empty_is_a_value(&self) -> bool {
        T::EMPTY_IS_A_VALUE
    }

    fn show(&self) -> String {
        self.value.show()
    }

    fn origin(&self) -> &Origin {
        &self.origin
    }
}
