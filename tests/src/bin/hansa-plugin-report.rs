//! Prints the report of the plugin search as JSON, from the files and variables of this process.
//!
//! Tests run it where the process matters: with more rights than its caller, or as a child.

use hansa_core::config::{Config, Inputs};
use hansa_core::plugin::{Plugins, Roots};

fn main() {
    let inputs = Inputs::of_process();
    let config = Config::load(&inputs);
    let roots = Roots::of_process(&inputs.environment);
    let plugins = Plugins::find(roots, &config, inputs.environment.secure(), &[]);
    match serde_json::to_string_pretty(&plugins.report()) {
        Ok(text) => println!("{text}"),
        Err(error) => {
            eprintln!("The report cannot be written: {error}");
            std::process::exit(1);
        }
    }
}
