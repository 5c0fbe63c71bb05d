//! Configuration: the lines of a file, and variables over them (after a line `---`, a variable to a line).
#![no_main]

use hansa_core::config::{Config, Environment, Inputs};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data).replace('\0', "");
    let (lines, variables) = text.split_once("\n---\n").unwrap_or((&text, ""));
    let variables = variables.lines().filter_map(|line| line.split_once('='));
    // No file of this machine: the lines come in the variable that holds some.
    let set = [("HANSA_SET", lines), ("HANSA_CONFIG", "/nowhere")];
    let inputs = Inputs {
        root: "/nowhere".into(),
        environment: Environment::new(
            variables
                .filter(|(name, _)| {
                    !matches!(*name, "HANSA_SET" | "HANSA_CONFIG" | "HOME" | "XDG_CONFIG_HOME")
                })
                .chain(set),
            false,
        ),
    };
    let config = Config::load(&inputs);
    for warning in &config.warnings {
        assert!(
            !warning.to_string().contains('\n'),
            "a warning is one line: {warning}"
        );
    }
    for id in ["org.hansa.sim", "org.hansa.kfd", "org.example.accel"] {
        let text = config.backend_text(id);
        let _ = hansa_kfd::config::Config::parse(&text);
        let _ = config.backends_without(&[id]);
    }
    for entry in config.entries() {
        // What `hansa config` prints can be written into a file and means the same.
        if entry.value.is_empty() {
            panic!("{} has no value", entry.key);
        }
    }
    for node in 0..4 {
        let _ = config.gfx_version_of_node(node);
    }
});
