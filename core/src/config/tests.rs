//! Whole configurations, from files and variables to settings.

use std::fs;

use super::*;

/// A directory that goes away with the value.
pub(crate) struct Root(pub(crate) PathBuf);

impl Root {
    pub(crate) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("hansa-config-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn load(&self, variables: &[(&str, &str)], secure: bool) -> Config {
        let home = self.0.join("home").into_os_string();
        let mut all: Vec<(String, std::ffi::OsString)> = vec![("HOME".into(), home)];
        all.extend(
            variables
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).into())),
        );
        Config::load(&Inputs {
            root: self.0.clone(),
            environment: Environment::new(all, secure),
        })
    }
}

impl Drop for Root {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn load(name: &str, file: &str, variables: &[(&str, &str)]) -> Config {
    let root = Root::new(name);
    root.write("etc/hsa/hsa.conf", file);
    root.load(variables, false)
}

fn warnings(config: &Config) -> Vec<String> {
    config.warnings.iter().map(ToString::to_string).collect()
}

#[test]
fn without_anything_the_defaults_hold() {
    let config = Root::new("nothing").load(&[], false);
    assert_eq!(config.settings, Settings::default());
    assert_eq!(warnings(&config), [""; 0]);
    assert!(config
        .entries()
        .iter()
        .all(|entry| entry.origin == Origin::Default));
}

#[test]
fn user_over_system_and_variable_over_user() {
    let root = Root::new("layers");
    root.write(
        "etc/hsa/hsa.conf",
        "[runtime]\nqueue_size = 1024\nscratch_mem_mb = 1\n[debug]\nlevel = 1\n",
    );
    root.write(
        "home/.config/hsa/hsa.conf",
        "# mine\n[runtime]\nqueue_size = 2048\n\n[debug]\nlevel = 2\n",
    );
    let config = root.load(&[("HSA_DEBUG_LEVEL", "3"), ("HSA_ENABLE_SDMA", "0")], false);
    let file = |path: &str, line| Origin::File {
        path: root.0.join(path),
        line,
    };
    let settings = &config.settings;
    assert_eq!(settings.runtime.scratch_mem_mb.value, Megabytes(1));
    assert_eq!(
        settings.runtime.scratch_mem_mb.origin,
        file("etc/hsa/hsa.conf", 3)
    );
    assert_eq!(settings.runtime.queue_size.value, QueueSize(2048));
    assert_eq!(
        settings.runtime.queue_size.origin,
        file("home/.config/hsa/hsa.conf", 3)
    );
    assert_eq!(settings.debug.level.value, Level(3));
    assert_eq!(
        settings.debug.level.origin,
        Origin::Variable("HSA_DEBUG_LEVEL".into())
    );
    assert_eq!(settings.runtime.enable_sdma.value, Some(false));
    assert_eq!(config.files.len(), 2);
    assert_eq!(warnings(&config), [""; 0]);
}

#[test]
fn our_variable_wins_over_the_known_one() {
    let variables = [("HSA_QUEUE_SIZE", "1024"), ("HANSA_RUNTIME_QUEUE_SIZE", "512")];
    let config = load("ours", "", &variables);
    assert_eq!(config.settings.runtime.queue_size.value, QueueSize(512));
}

#[test]
fn a_bad_value_names_file_line_and_form_and_the_value_before_holds() {
    let text = "[runtime]\nqueue_size = 100\nenable_sdma = \"yes\"\n[debug]\nlevel = 8\napi_trace = 1\n";
    let config = load(
        "bad",
        text,
        &[("HSA_DEBUG_LEVEL", "high"), ("HSA_ENABLE_DEBUG", "false")],
    );
    assert_eq!(config.settings, Settings::default());
    let found = warnings(&config);
    let expected = [
        "hsa.conf:2: runtime.queue_size = 100: expected a power of two from 64 to 131072; it stays 4096 (default)",
        "hsa.conf:3: runtime.enable_sdma = \"yes\": expected true, false or \"auto\"; it stays \"auto\" (default)",
        "hsa.conf:5: debug.level = 8: expected a number from 0 to 7; it stays 0 (default)",
        "hsa.conf:6: debug.api_trace = 1: expected true or false, \"text\", \"text:FILE\" or \"perfetto:FILE\"; it stays false (default)",
        "HSA_DEBUG_LEVEL: high: expected a number from 0 to 7; it stays 0 (default)",
        "HSA_ENABLE_DEBUG: false: expected 0 or 1; it stays false (default)",
    ];
    assert_eq!(found.len(), expected.len(), "{found:#?}");
    for (found, expected) in found.iter().zip(expected) {
        assert!(found.ends_with(expected), "{found}\n{expected}");
    }
}

#[test]
fn unknown_keys_sections_and_variables_are_one_warning_each() {
    let text = "top = 1\n[runtime]\nqueue_sise = 64\n[nonsense]\na = 1\n[backend]\nsim = 3\n";
    let config = load(
        "unknown",
        text,
        &[
            ("HANSA_PLUGIN_DISABEL", "x"),
            ("HANSA_DEBUGS", "7"),
            ("HANSA_SIM_TRACE", "-"),
            ("HANSA_EMPTY", ""),
        ],
    );
    let found = warnings(&config);
    for (warning, part) in found.iter().zip([
        ":1: unknown section [top]",
        ":3: unknown key queue_sise; [runtime] has queue_size, scratch_mem_mb, enable_sdma",
        ":4: unknown section [nonsense]",
        ":7: backend.sim is not a table",
        "HANSA_DEBUGS: unknown variable",
        "HANSA_PLUGIN_DISABEL: unknown variable",
    ]) {
        assert!(warning.contains(part), "{warning}\n{part}");
    }
    assert_eq!(found.len(), 6, "{found:#?}");
}

#[test]
fn a_file_that_is_not_toml_is_passed_over_whole() {
    let config = load("syntax", "[debug]\nlevel = 5\n[runtime\n", &[]);
    assert_eq!(config.settings, Settings::default());
    assert!(
        warnings(&config)[0].contains("hsa.conf:3: not TOML: "),
        "{:?}",
        config.warnings
    );
}

#[test]
fn hansa_config_names_the_one_file() {
    let root = Root::new("named");
    root.write("etc/hsa/hsa.conf", "[debug]\nlevel = 1\n");
    root.write("other", "[debug]\nqueue = true\n");
    let other = root.0.join("other");
    let config = root.load(&[("HANSA_CONFIG", other.to_str().unwrap())], false);
    assert_eq!(
        (
            config.settings.debug.level.value,
            config.settings.debug.queue.value
        ),
        (Level(0), true)
    );

    let config = root.load(&[("HANSA_CONFIG", "/nowhere/hsa.conf")], false);
    assert_eq!(
        warnings(&config),
        ["HANSA_CONFIG: there is no file /nowhere/hsa.conf; no file is read"]
    );
}

#[test]
fn a_secure_program_ignores_the_callers_files_and_says_so() {
    let root = Root::new("secure");
    root.write("home/.config/hsa/hsa.conf", "[debug]\nlevel = 2\n");
    root.write("other", "[debug]\nlevel = 3\n");
    let other = root.0.join("other");
    let config = root.load(
        &[
            ("HANSA_CONFIG", other.to_str().unwrap()),
            ("HSA_QUEUE_DEBUG", "1"),
            ("HSA_TOOLS_LIB", "/tmp/libtool.so"),
        ],
        true,
    );
    assert_eq!(config.settings.debug.level.value, Level(0));
    assert!(config.settings.debug.queue.value);
    assert_eq!(config.settings.hsa.tools_lib.value.0, [""; 0]);
    let found = warnings(&config);
    for (found, name) in found.iter().zip(["HANSA_CONFIG", "HOME", "HSA_TOOLS_LIB"]) {
        assert!(found.starts_with(&format!("{name}: ignored")), "{found}");
    }
    assert_eq!(found.len(), 3);
}

#[test]
fn an_empty_variable_is_unset_except_for_the_visible_devices() {
    let variables = [
        ("HSA_OVERRIDE_GFX_VERSION_2", ""),
        ("HSA_QUEUE_SIZE", ""),
        ("ROCR_VISIBLE_DEVICES", ""),
    ];
    let config = load("empty", "", &variables);
    assert_eq!(warnings(&config), [""; 0]);
    assert!(config.override_gfx_version_of_node.is_empty());
    assert_eq!(
        config.settings.hsa.visible_devices.value,
        Some(VisibleDevices::default())
    );
    assert_eq!(load("unset", "", &[]).settings.hsa.visible_devices.value, None);
}

#[test]
fn the_version_of_a_node_wins_over_the_global_one() {
    let variables = [
        ("HSA_OVERRIDE_GFX_VERSION", "9.0.0"),
        ("HSA_OVERRIDE_GFX_VERSION_2", "11.0.0"),
        ("HSA_OVERRIDE_GFX_VERSION_3", "gfx1030"),
        ("HSA_OVERRIDE_GFX_VERSION_x", "9.0.0"),
    ];
    let config = load("gfx", "", &variables);
    let version = |node| config.gfx_version_of_node(node).unwrap().value.to_string();
    assert_eq!(
        (version(1), version(2), version(3)),
        ("9.0.0".into(), "11.0.0".into(), "9.0.0".into())
    );
    assert_eq!(config.warnings.len(), 2);
}

#[test]
fn the_text_for_a_plugin_is_toml_with_the_whole_id_winning() {
    let text = "[backend.sim]\nwaves = 4\nname = \"short\"\n[backend.\"org.hansa.sim\"]\nname = \"long\"\n\
                [backend.org.hansa.kfd]\nfast = true\n[backend.sim.memory]\nbanks = [1, 2]\n\
                [backend.kfd.only.tables]\na = 1\n[backend.nobody]\na = 1\n";
    let config = load("backend", text, &[("HSA_DISABLE_CACHE", "1")]);
    let sim: toml::Table = config.backend_text("org.hansa.sim").parse().unwrap();
    assert_eq!(sim["waves"].as_integer(), Some(4));
    assert_eq!(sim["name"].as_str(), Some("long"));
    assert_eq!(sim["memory"]["banks"].as_array().unwrap().len(), 2);
    assert_eq!(sim["environment"]["HSA_DISABLE_CACHE"].as_str(), Some("1"));
    let kfd: toml::Table = config.backend_text("org.hansa.kfd").parse().unwrap();
    assert_eq!(kfd["fast"].as_bool(), Some(true));
    assert_eq!(kfd["only"]["tables"]["a"].as_integer(), Some(1));
    assert_eq!(load("backend2", text, &[]).backend_text("org.hansa.xdna"), "");
    let origins = config.backend_origins("org.hansa.sim");
    let line = |key: &str| match &origins[key] {
        Origin::File { line, .. } => *line,
        other => panic!("{key}: {other}"),
    };
    assert_eq!((line("waves"), line("name"), line("memory.banks")), (2, 5, 9));
    let unanswered = config.backends_without(&["org.hansa.kfd", "org.hansa.sim"]);
    let [nobody] = &unanswered[..] else {
        panic!("{unanswered:?}");
    };
    assert!(
        nobody
            .to_string()
            .ends_with("hsa.conf:13: [backend.nobody] is for a plugin that was not found"),
        "{nobody}"
    );
}

#[test]
fn the_users_table_for_a_plugin_goes_over_the_administrators_key_by_key() {
    let root = Root::new("backends");
    root.write("etc/hsa/hsa.conf", "[backend.sim]\na = 1\nb = 1\n");
    root.write("home/.config/hsa/hsa.conf", "[backend.sim]\nb = 2\n");
    let table: toml::Table = root
        .load(&[], false)
        .backend_text("org.hansa.sim")
        .parse()
        .unwrap();
    assert_eq!(
        (table["a"].as_integer(), table["b"].as_integer()),
        (Some(1), Some(2))
    );
}

#[test]
fn entries_tell_value_and_origin() {
    let config = load(
        "entries",
        "[plugins]\norder = [\"kfd\", \"sim\"]\n[backend.sim]\ndevices = 3\nisa = \"gfx906\"\n",
        &[("HANSA_BACKENDS", "sim")],
    );
    let entries = config.entries();
    let entry = |key: &str| entries.iter().find(|entry| entry.key == key).unwrap();
    assert_eq!(entry("plugins.order").value, r#"["kfd", "sim"]"#);
    assert!(entry("plugins.order").origin.to_string().ends_with("hsa.conf:2"));
    assert_eq!(
        (
            entry("plugins.backends").value.as_str(),
            entry("plugins.backends").origin.to_string()
        ),
        (r#"["sim"]"#, "HANSA_BACKENDS".into())
    );
    assert_eq!(
        (
            entry("backend.sim.devices").value.as_str(),
            entry("backend.sim.isa").value.as_str()
        ),
        ("3", "\"gfx906\"")
    );
    assert!(entry("backend.sim.isa")
        .origin
        .to_string()
        .ends_with("hsa.conf:5"));
    let json = serde_json::to_value(entry("plugins.backends")).unwrap();
    assert_eq!(json["origin"], "HANSA_BACKENDS");
}

#[test]
fn lines_in_a_variable_are_read_over_the_files() {
    let file = "[backend.sim]\ndevices = 1\nisa = \"gfx900\"\n";
    let config = load(
        "lines",
        file,
        &[("HANSA_SET", "backend.sim.devices = 2\ndebug.level = 5\n")],
    );
    assert!(config.warnings.is_empty(), "{:?}", config.warnings);
    assert_eq!(config.settings.debug.level.value.0, 5);
    let text = config.backend_text("org.hansa.sim");
    assert!(text.contains("devices = 2") && text.contains("gfx900"), "{text}");
}
