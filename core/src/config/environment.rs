//! The environment of the process, as data.
//!
//! Everything that reads variables takes an [`Environment`], so that a test can have its own. A
//! program that runs with more rights than its caller (set-user-ID, set-group-ID, file
//! capabilities) is told so by the kernel in the auxiliary vector, entry `AT_SECURE`; its caller
//! must not choose which files it reads or which libraries it loads, so the variables that carry
//! paths, and the caller's home, are not there for anyone to read.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::variables;

/// Variables by name, already without those that a secure program must not see.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    variables: BTreeMap<String, OsString>,
    dropped: Vec<String>,
    secure: bool,
}

impl Environment {
    /// The environment of this process.
    pub fn of_process() -> Self {
        let variables =
            std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value)));
        // SAFETY: getauxval has no precondition.
        let secure = unsafe { libc::getauxval(libc::AT_SECURE) } != 0;
        Self::new(variables, secure)
    }

    /// An environment made of these variables; `secure` drops the ones that carry paths.
    pub fn new<N: Into<String>, V: Into<OsString>>(
        variables: impl IntoIterator<Item = (N, V)>,
        secure: bool,
    ) -> Self {
        let all = variables
            .into_iter()
            .map(|(name, value)| (name.into(), value.into()));
        let (kept, dropped): (BTreeMap<String, OsString>, BTreeMap<_, _>) =
            all.partition(|(name, value): &(String, OsString)| {
                !secure || value.is_empty() || !variables::carries_path(name)
            });
        Self {
            variables: kept,
            dropped: dropped.into_keys().collect(),
            secure,
        }
    }

    /// The value of a variable; an empty one is unset.
    pub fn var(&self, name: &str) -> Option<&OsStr> {
        self.var_even_empty(name).filter(|value| !value.is_empty())
    }

    /// The value of a variable for the few whose empty value means something.
    pub fn var_even_empty(&self, name: &str) -> Option<&OsStr> {
        self.variables.get(name).map(OsString::as_os_str)
    }

    /// The names of the set variables that begin with `prefix`, in byte order.
    pub fn names_with<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = &'a str> {
        self.variables
            .range(prefix.to_owned()..)
            .take_while(move |(name, _)| name.starts_with(prefix))
            .filter(|(_, value)| !value.is_empty())
            .map(|(name, _)| name.as_str())
    }

    /// Whether the program runs with more rights than its caller.
    pub fn secure(&self) -> bool {
        self.secure
    }

    /// The variables that were set and dropped because the program is secure.
    pub fn dropped(&self) -> &[String] {
        &self.dropped
    }

    /// The directory of the user's configuration: `XDG_CONFIG_HOME` if absolute, else `.config`
    /// in `HOME` (XDG Base Directory specification).
    pub fn user_config_dir(&self) -> Option<PathBuf> {
        let absolute = |name| self.var(name).map(Path::new).filter(|path| path.is_absolute());
        absolute("XDG_CONFIG_HOME")
            .map(Path::to_owned)
            .or_else(|| absolute("HOME").map(|home| home.join(".config")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_variable_is_unset() {
        let env = Environment::new([("A", ""), ("B", "1")], false);
        assert_eq!(env.var("A"), None);
        assert_eq!(env.var_even_empty("A"), Some(OsStr::new("")));
        assert_eq!(env.var("B"), Some(OsStr::new("1")));
    }

    #[test]
    fn a_secure_program_sees_no_path_and_says_which() {
        let env = Environment::new(
            [
                ("HANSA_PLUGIN_ADD", "/tmp/x"),
                ("HOME", "/home/u"),
                ("XDG_CONFIG_HOME", "/x"),
                ("HANSA_BACKENDS", "sim"),
            ],
            true,
        );
        assert_eq!(env.var("HANSA_PLUGIN_ADD"), None);
        assert_eq!(env.user_config_dir(), None);
        assert_eq!(env.var("HANSA_BACKENDS"), Some(OsStr::new("sim")));
        assert_eq!(env.dropped(), ["HANSA_PLUGIN_ADD", "HOME", "XDG_CONFIG_HOME"]);
    }

    #[test]
    fn the_users_directory_is_xdg_then_home() {
        let dir = |vars: &[(&str, &str)]| Environment::new(vars.iter().copied(), false).user_config_dir();
        assert_eq!(
            dir(&[("XDG_CONFIG_HOME", "/x"), ("HOME", "/h")]),
            Some("/x".into())
        );
        assert_eq!(
            dir(&[("XDG_CONFIG_HOME", "relative"), ("HOME", "/h")]),
            Some("/h/.config".into())
        );
        assert_eq!(dir(&[]), None);
    }

    #[test]
    fn names_are_listed_by_prefix() {
        let env = Environment::new([("A_1", "x"), ("A_2", "x"), ("A_3", ""), ("B_1", "x")], false);
        assert_eq!(env.names_with("A_").collect::<Vec<_>>(), ["A_1", "A_2"]);
    }
}
