//! The types a setting can have, and their forms in a file and in a variable.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use toml_edit::Item;

/// Whose rules a variable follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// `HSA_*` and `ROCR_*`: a switch is exactly `0` or `1`.
    Hsa,
    /// `HANSA_*`: a switch may also be spelled out.
    Hansa,
}

/// A type of setting.
pub trait Value: Sized {
    /// The accepted form, for a person.
    const FORM: &'static str;
    /// Whether an empty variable is a value rather than no variable.
    const EMPTY_IS_A_VALUE: bool = false;

    /// The accepted form in a variable.
    fn form(_dialect: Dialect) -> &'static str {
        Self::FORM
    }

    /// Reads it from a file.
    fn from_item(item: &Item) -> Option<Self>;

    /// Reads it from a variable.
    fn from_text(text: &OsStr, dialect: Dialect) -> Option<Self>;

    /// The value as TOML writes it.
    fn show(&self) -> String;
}

fn switch(text: &OsStr, dialect: Dialect) -> Option<bool> {
    match (text.to_str()?.trim(), dialect) {
        ("0", _) | ("false" | "no" | "off", Dialect::Hansa) => Some(false),
        ("1", _) | ("true" | "yes" | "on", Dialect::Hansa) => Some(true),
        _ => None,
    }
}

fn switch_form(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Hsa => "0 or 1",
        Dialect::Hansa => "0 or 1, or true or false",
    }
}

impl Value for bool {
    const FORM: &'static str = "true or false";

    fn form(dialect: Dialect) -> &'static str {
        switch_form(dialect)
    }

    fn from_item(item: &Item) -> Option<Self> {
        item.as_bool()
    }

    fn from_text(text: &OsStr, dialect: Dialect) -> Option<Self> {
        switch(text, dialect)
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

/// A switch that leaves the choice to the driver when nobody sets it.
impl Value for Option<bool> {
    const FORM: &'static str = "true, false or \"auto\"";

    fn form(dialect: Dialect) -> &'static str {
        switch_form(dialect)
    }

    fn from_item(item: &Item) -> Option<Self> {
        item.as_bool()
            .map(Some)
            .or_else(|| (item.as_str()? == "auto").then_some(None))
    }

    fn from_text(text: &OsStr, dialect: Dialect) -> Option<Self> {
        switch(text, dialect).map(Some)
    }

    fn show(&self) -> String {
        self.map_or_else(|| quoted("auto"), |on| on.to_string())
    }
}

/// A switch that any text turns on which does not say no.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wish(pub bool);

impl Value for Wish {
    const FORM: &'static str = "true or false";

    fn form(_dialect: Dialect) -> &'static str {
        "0, no, off or false; anything else is yes"
    }

    fn from_item(item: &Item) -> Option<Self> {
        item.as_bool().map(Self)
    }

    fn from_text(text: &OsStr, _dialect: Dialect) -> Option<Self> {
        let text = text.to_str()?.trim().to_ascii_lowercase();
        let no = matches!(text.as_str(), "off" | "false" | "no" | "n" | "f") || text.parse::<i64>() == Ok(0);
        Some(Self(!no))
    }

    fn show(&self) -> String {
        self.0.to_string()
    }
}

/// Declares a whole number with a range.
macro_rules! number {
    ($(#[$doc:meta])* $name:ident($inner:ty), $form:literal, $accepts:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub struct $name(pub $inner);

        impl Value for $name {
            const FORM: &'static str = $form;

            fn from_item(item: &Item) -> Option<Self> {
                let value = <$inner>::try_from(item.as_integer()?).ok()?;
                $accepts(value).then_some(Self(value))
            }

            fn from_text(text: &OsStr, _dialect: Dialect) -> Option<Self> {
                let value = text.to_str()?.trim().parse::<$inner>().ok()?;
                $accepts(value).then_some(Self(value))
            }

            fn show(&self) -> String {
                self.0.to_string()
            }
        }
    };
}

number! {
    /// Packets in a queue.
    QueueSize(u32), "a power of two from 64 to 131072",
    |n: u32| n.is_power_of_two() && (64..=131_072).contains(&n)
}
number! {
    /// How much is written to the log, from 0, nothing, to 7, everything.
    Level(u8), "a number from 0 to 7", |n: u8| n <= 7
}
number! {
    /// An amount of memory in units of 1048576 bytes.
    Megabytes(u32), "a number of megabytes from 0 to 1048576", |n: u32| n <= 1_048_576
}
number! {
    /// An amount of memory in bytes.
    Bytes(u64), "a number of bytes", |_| true
}
number! {
    /// How many there may be.
    Count(u32), "a number from 0 to 4294967295", |_| true
}
number! {
    /// A time in seconds; 0 is no limit.
    Seconds(u32), "a number of seconds, 0 for no limit", |_| true
}

/// A list of names or globs: an array in a file, separated by commas or blanks in a variable.
impl Value for Vec<String> {
    const FORM: &'static str = "a list of names, such as [\"sim\"]";

    fn form(_dialect: Dialect) -> &'static str {
        "names separated by commas"
    }

    fn from_item(item: &Item) -> Option<Self> {
        item.as_array()?
            .iter()
            .map(|value| value.as_str().map(str::to_owned))
            .collect()
    }

    fn from_text(text: &OsStr, _dialect: Dialect) -> Option<Self> {
        let words = text.to_str()?.split(|c: char| c == ',' || c.is_whitespace());
        Some(words.filter(|word| !word.is_empty()).map(str::to_owned).collect())
    }

    fn show(&self) -> String {
        array(self.iter().map(String::as_str))
    }
}

/// A list of paths: an array in a file, separated by colons in a variable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Paths(pub Vec<PathBuf>);

impl Value for Paths {
    const FORM: &'static str = "a list of paths, such as [\"/opt/vendor/plugins\"]";

    fn form(_dialect: Dialect) -> &'static str {
        "paths separated by colons"
    }

    fn from_item(item: &Item) -> Option<Self> {
        Vec::from_item(item).map(|paths: Vec<String>| Self(paths.into_iter().map(PathBuf::from).collect()))
    }

    fn from_text(text: &OsStr, _dialect: Dialect) -> Option<Self> {
        let paths = text
            .as_bytes()
            .split(|&b| b == b':')
            .filter(|path| !path.is_empty());
        Some(Self(
            paths
                .map(|path| OsString::from_vec(path.to_owned()).into())
                .collect(),
        ))
    }

    fn show(&self) -> String {
        let paths: Vec<String> = self.0.iter().map(|path| path.display().to_string()).collect();
        array(paths.iter().map(String::as_str))
    }
}

/// Libraries to load, in order: separated by blanks in a variable, where double quotes keep blanks
/// together and a backslash takes the next character as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Libraries(pub Vec<String>);

impl Value for Libraries {
    const FORM: &'static str = "a list of libraries, such as [\"libtool.so\"]";

    fn form(_dialect: Dialect) -> &'static str {
        "libraries separated by blanks"
    }

    fn from_item(item: &Item) -> Option<Self> {
        Vec::from_item(item).map(Self)
    }

    fn from_text(text: &OsStr, _dialect: Dialect) -> Option<Self> {
        let mut found = Vec::new();
        let mut word: Option<String> = None;
        let mut in_quotes = false;
        let mut chars = text.to_str()?.chars();
        while let Some(c) = chars.next() {
            match c {
                '"' => {
                    in_quotes = !in_quotes;
                    word.get_or_insert_default();
                }
                '\\' => word.get_or_insert_default().extend(chars.next()),
                c if c.is_whitespace() && !in_quotes => found.extend(word.take()),
                c => word.get_or_insert_default().push(c),
            }
        }
        found.extend(word);
        found.retain(|library| !library.is_empty());
        (!in_quotes).then_some(Self(found))
    }

    fn show(&self) -> String {
        array(self.0.iter().map(String::as_str))
    }
}

/// Priorities by plugin id.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Priorities(pub BTreeMap<String, i32>);

impl Value for Priorities {
    const FORM: &'static str = "a table of numbers by plugin id, such as { \"org.hansa.sim\" = 10 }";

    fn form(_dialect: Dialect) -> &'static str {
        "id=number pairs separated by commas"
    }

    fn from_item(item: &Item) -> Option<Self> {
        let pairs = item.as_table_like()?.iter().map(|(id, item)| {
            let priority = i32::try_from(item.as_integer()?).ok()?;
            Some((id.to_owned(), priority))
        });
        pairs.collect::<Option<_>>().map(Self)
    }

    fn from_text(text: &OsStr, _dialect: Dialect) -> Option<Self> {
        let pairs = text
            .to_str()?
            .split(',')
            .filter(|pair| !pair.trim().is_empty())
            .map(|pair| {
                let (id, priority) = pair.split_once('=')?;
                Some((id.trim().to_owned(), priority.trim().parse().ok()?))
            });
        pairs.collect::<Option<_>>().map(Self)
    }

    fn show(&self) -> String {
        let pairs: Vec<String> = self
            .0
            .iter()
            .map(|(id, n)| format!("{} = {n}", quoted(id)))
            .collect();
        if pairs.is_empty() {
            "{}".to_owned()
        } else {
            format!("{{ {} }}", pairs.join(", "))
        }
    }
}

/// A text as a TOML string.
pub(super) fn quoted(text: &str) -> String {
    toml_edit::Value::from(text).to_string()
}

fn array<'a>(items: impl Iterator<Item = &'a str>) -> String {
    items.collect::<toml_edit::Array>().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text<T: Value>(text: &str, dialect: Dialect) -> Option<T> {
        T::from_text(OsStr::new(text), dialect)
    }

    #[test]
    fn a_switch_of_rocr_is_literal_and_ours_may_be_spelled_out() {
        assert_eq!(text::<bool>("1", Dialect::Hsa), Some(true));
        assert_eq!(text::<bool>("true", Dialect::Hsa), None);
        assert_eq!(text::<bool>("true", Dialect::Hansa), Some(true));
        assert_eq!(text::<bool>("off", Dialect::Hansa), Some(false));
        assert_eq!(text::<bool>("2", Dialect::Hansa), None);
        assert_eq!(text::<Option<bool>>("0", Dialect::Hsa), Some(Some(false)));
    }

    #[test]
    fn a_wish_is_whatever_does_not_say_no() {
        for no in ["0", "off", "FALSE", "no", "n", "f", "00"] {
            assert_eq!(text::<Wish>(no, Dialect::Hsa), Some(Wish(false)), "{no}");
        }
        for yes in ["1", "-1", "on", "please"] {
            assert_eq!(text::<Wish>(yes, Dialect::Hsa), Some(Wish(true)), "{yes}");
        }
    }

    #[test]
    fn numbers_have_ranges() {
        assert_eq!(text("8192", Dialect::Hsa), Some(QueueSize(8192)));
        for bad in ["100", "32", "262144", "-1", "", "4k"] {
            assert_eq!(text::<QueueSize>(bad, Dialect::Hsa), None, "{bad}");
        }
        assert_eq!(text("7", Dialect::Hsa), Some(Level(7)));
        assert_eq!(text::<Level>("8", Dialect::Hsa), None);
    }

    #[test]
    fn lists_split_at_commas_and_blanks_and_paths_at_colons() {
        assert_eq!(
            text::<Vec<String>>(" sim, kfd ,,x", Dialect::Hansa).unwrap(),
            ["sim", "kfd", "x"]
        );
        assert_eq!(
            text::<Paths>("/a::/b", Dialect::Hansa).unwrap(),
            Paths(vec!["/a".into(), "/b".into()])
        );
    }

    #[test]
    fn tools_libraries_may_be_quoted_and_escaped() {
        let libraries = |t| text::<Libraries>(t, Dialect::Hsa).map(|l| l.0);
        assert_eq!(
            libraries(r#"a.so  "b c.so" d\ e.so"#).unwrap(),
            ["a.so", "b c.so", "d e.so"]
        );
        assert_eq!(libraries(r#"a"b c"d"#).unwrap(), ["ab cd"]);
        assert_eq!(libraries(r#""open"#), None);
        assert_eq!(libraries("   ").unwrap(), [""; 0]);
    }

    #[test]
    fn values_are_shown_as_toml() {
        assert_eq!(vec!["a\"b".to_owned()].show(), r#"['a"b']"#);
        assert_eq!(
            text::<Priorities>("a.b=3, c.d=-1", Dialect::Hansa)
                .unwrap()
                .show(),
            r#"{ "a.b" = 3, "c.d" = -1 }"#
        );
        assert_eq!(None::<bool>.show(), r#""auto""#);
    }
}
