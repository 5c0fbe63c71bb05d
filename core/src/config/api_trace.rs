//! `HSA_TRACE`: whether and where what the runtime does is written down.

use std::ffi::OsStr;
use std::path::PathBuf;

use toml_edit::Item;

use super::value::{quoted, Dialect, Value};

/// A trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ApiTrace {
    /// None.
    #[default]
    Off,
    /// A line for each call, to a file or to stderr.
    Text(Option<PathBuf>),
    /// Calls, dispatches, copies and waits in a file for ui.perfetto.dev.
    Perfetto(PathBuf),
}

impl ApiTrace {
    fn parse(text: &str) -> Option<Self> {
        let file = |path: &str| (!path.is_empty()).then(|| PathBuf::from(path));
        match text.split_once(':') {
            Some(("text", path)) => file(path).map(|path| Self::Text(Some(path))),
            Some(("perfetto", path)) => file(path).map(Self::Perfetto),
            Some(_) => None,
            None if text == "text" => Some(Self::Text(None)),
            None => None,
        }
    }

    const fn of_switch(on: bool) -> Self {
        if on {
            Self::Text(None)
        } else {
            Self::Off
        }
    }
}

impl Value for ApiTrace {
    const FORM: &'static str = "true or false, \"text\", \"text:FILE\" or \"perfetto:FILE\"";

    fn form(_dialect: Dialect) -> &'static str {
        "0 or 1, text, text:FILE or perfetto:FILE"
    }

    fn from_item(item: &Item) -> Option<Self> {
        let switch = item.as_bool().map(Self::of_switch);
        switch.or_else(|| Self::parse(item.as_str()?))
    }

    fn from_text(text: &OsStr, dialect: Dialect) -> Option<Self> {
        let switch = bool::from_text(text, dialect).map(Self::of_switch);
        switch.or_else(|| Self::parse(text.to_str()?))
    }

    fn show(&self) -> String {
        match self {
            Self::Off => "false".to_owned(),
            Self::Text(None) => quoted("text"),
            Self::Text(Some(path)) => quoted(&format!("text:{}", path.display())),
            Self::Perfetto(path) => quoted(&format!("perfetto:{}", path.display())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_is_a_switch_or_a_format_with_a_file() {
        let read = |text| ApiTrace::from_text(OsStr::new(text), Dialect::Hsa);
        assert_eq!(read("1"), Some(ApiTrace::Text(None)));
        assert_eq!(read("0"), Some(ApiTrace::Off));
        assert_eq!(read("text"), Some(ApiTrace::Text(None)));
        assert_eq!(read("text:/a:b"), Some(ApiTrace::Text(Some("/a:b".into()))));
        assert_eq!(read("perfetto:x.json"), Some(ApiTrace::Perfetto("x.json".into())));
        for bad in ["perfetto", "perfetto:", "text:", "json:x", "yes"] {
            assert_eq!(read(bad), None, "{bad}");
        }
        assert_eq!(read("perfetto:x").unwrap().show(), "\"perfetto:x\"");
    }
}
