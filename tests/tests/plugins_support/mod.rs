//! What the tests of plugins share: building the fake plugin and its variants, installing copies of
//! them in a directory of their own, and starting a runtime's plugins from there.

#![allow(dead_code, unreachable_pub, reason = "each test program uses its part")]
#![allow(
    clippy::unwrap_used,
    missing_debug_implementations,
    reason = "a panic is how a test fails"
)]

pub mod variants;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::OnceLock;

use hansa_core::config::{Config, Environment, Inputs};
use hansa_core::plugin::{read_note, Facts, LoadedDriver, Plugins, Reason, Roots};
use hansa_plugin_api::sys::LinuxSystem;
use hansa_plugin_api::{DeviceEvent, Error, Host, HostObject, LogLevel, RStr, RString, Result, ThreadEntry};

/// The top of the repository.
pub fn top() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// Builds packages of a workspace and answers with their shared objects, in the order of the names.
pub fn build(workspace: &Path, packages: &[&str]) -> Vec<PathBuf> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo
        .current_dir(workspace)
        .args(["build", "--offline", "--message-format=json"]);
    // What the outer cargo says of this test program is not meant for another build.
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_EXE_"]
            .iter()
            .any(|prefix| text.starts_with(prefix))
        {
            cargo.env_remove(&name);
        }
    }
    cargo.env("CARGO_TARGET_DIR", target());
    if !cfg!(debug_assertions) {
        cargo.arg("--release");
    }
    for package in packages {
        cargo.args(["-p", package]);
    }
    let output = cargo.output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let messages = String::from_utf8(output.stdout).unwrap();
    let messages: Vec<serde_json::Value> = messages
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect();
    let library = |package: &&str| {
        let name = package.replace('-', "_");
        let files = messages
            .iter()
            .filter(|message| message["target"]["name"] == name.as_str());
        let mut files = files
            .filter_map(|message| message["filenames"].as_array())
            .flatten();
        let file = files.find_map(|file| file.as_str().filter(|file| file.ends_with(".so")));
        PathBuf::from(file.unwrap_or_else(|| panic!("{package} has no shared object")))
    };
    packages.iter().map(library).collect()
}

/// The target directory of the outer build: two levels above the test program.
fn target() -> PathBuf {
    let exe = std::env::current_exe().unwrap();
    exe.ancestors().nth(3).unwrap().to_owned()
}

/// The shared objects of the fake plugin.
pub struct Fakes {
    pub fake: PathBuf,
    pub second: PathBuf,
    pub undefined_symbol: PathBuf,
    pub no_root: PathBuf,
}

/// Builds the fake plugin once.
pub fn fakes() -> &'static Fakes {
    static FAKES: OnceLock<Fakes> = OnceLock::new();
    FAKES.get_or_init(|| {
        let names = [
            "hansa-fake-plugin",
            "hansa-fake-plugin-second",
            "hansa-fake-plugin-undefined-symbol",
            "hansa-fake-plugin-no-root",
        ];
        let mut built = build(top(), &names).into_iter();
        let mut next = || built.next().unwrap();
        Fakes {
            fake: next(),
            second: next(),
            undefined_symbol: next(),
            no_root: next(),
        }
    })
}

/// A directory of plugins that goes away with the value.
pub struct Place {
    pub dir: PathBuf,
}

impl Place {
    pub fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let dir = std::env::temp_dir().join(format!("hansa-plugins-{}-{number}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        Self { dir }
    }

    /// Copies a library here under a name of its own.
    pub fn copy(&self, library: &Path, name: &str) -> PathBuf {
        let copy = self.dir.join(name);
        fs::copy(library, &copy).unwrap();
        copy
    }

    /// Installs a library with the manifest that its note asks for, changed by `change`.
    pub fn install(&self, library: &Path, change: impl FnOnce(&mut Facts)) -> PathBuf {
        let mut facts = read_note(library).unwrap();
        change(&mut facts);
        let name = format!("lib{}.so", facts.id.replace('.', "_"));
        self.copy(library, &name);
        self.write(&facts.file_name(), &facts.to_toml(&name))
    }

    /// Writes a file here.
    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.dir.join(name);
        fs::write(&path, text).unwrap();
        path
    }

    /// Says how an installed copy of the fake plugin behaves.
    pub fn behave(&self, id: &str, text: &str) {
        self.write(&format!("lib{}.behaviour", id.replace('.', "_")), text);
    }

    /// Changes bytes of an installed library.
    pub fn patch(&self, id: &str, change: impl FnOnce(&mut Vec<u8>)) {
        let path = self.dir.join(format!("lib{}.so", id.replace('.', "_")));
        let mut bytes = fs::read(&path).unwrap();
        change(&mut bytes);
        fs::write(&path, bytes).unwrap();
    }

    /// Starts the plugins here, and none of anywhere else.
    pub fn start(&self, variables: &[(&str, &str)]) -> Started {
        let add = self.dir.clone().into_os_string().into_string().unwrap();
        let variables = [("HANSA_PLUGIN_ADD", add.as_str())]
            .into_iter()
            .chain(variables.iter().copied());
        let environment = Environment::new(variables, false);
        let nowhere = self.dir.join("nowhere");
        let config = Config::load(&Inputs {
            root: nowhere.clone(),
            environment,
        });
        let roots = Roots {
            root: nowhere,
            user: None,
            runtime: None,
        };
        let mut plugins = Plugins::find(roots, &config, false, &[]);
        let drivers = plugins.start_drivers(&LinuxSystem, &|_, text| HostObject::new(SilentHost(text)));
        Started {
            plugins,
            drivers,
            place: None,
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.dir);
    }
}

/// Plugins that were started.
pub struct Started {
    pub plugins: Plugins,
    pub drivers: Vec<LoadedDriver>,
    place: Option<Place>,
}

impl Started {
    /// Keeps the directory, with the file that says how the plugin behaves, as long as the plugins.
    pub fn keep(mut self, place: Place) -> Self {
        self.place = Some(place);
        self
    }

    /// How the plugin of this id ended.
    pub fn reason(&self, id: &str) -> &Reason {
        let candidate = self
            .plugins
            .candidates()
            .iter()
            .find(|candidate| candidate.name == id);
        let candidate =
            candidate.unwrap_or_else(|| panic!("{id} is not among {:?}", self.plugins.candidates()));
        candidate.reason.as_ref().unwrap()
    }

    /// The drivers that serve.
    pub fn serving(&self) -> Vec<&str> {
        self.drivers.iter().map(|driver| driver.id.as_str()).collect()
    }

    /// The driver of this id.
    pub fn driver(&self, id: &str) -> &LoadedDriver {
        self.drivers.iter().find(|driver| driver.id == id).unwrap()
    }

    /// Why the runtime must not start, or nothing.
    pub fn verdict(&self) -> String {
        self.plugins
            .verdict()
            .err()
            .map_or_else(String::new, |error| error.to_string())
    }
}

/// A runtime that does nothing.
struct SilentHost(String);

impl Host for SilentHost {
    fn log(&self, _: LogLevel, _: RStr<'_>) -> Result<()> {
        Ok(())
    }
    fn now(&self) -> Result<u64> {
        Ok(0)
    }
    fn configuration(&self) -> Result<RString> {
        Ok(self.0.as_str().into())
    }
    fn spawn(&self, _: RStr<'_>, _: ThreadEntry) -> Result<()> {
        Err(Error::not_supported("Host::spawn"))
    }
    fn signal_changed(&self, _: u64) -> Result<()> {
        Ok(())
    }
    fn event_raised(&self, _: u32) -> Result<()> {
        Ok(())
    }
    fn device_event(&self, _: &DeviceEvent) -> Result<()> {
        Ok(())
    }
}
