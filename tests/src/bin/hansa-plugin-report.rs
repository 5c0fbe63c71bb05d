//! Prints the report of the plugin search as JSON, from the files and variables of this process.
//!
//! Tests run it where the process matters: with more rights than its caller, or for a runtime of its
//! own. With the argument `init` it starts that runtime, takes it down again, and reports the status
//! too.

use hansa_core::config::{Config, Inputs};
use hansa_core::plugin::{Plugins, Roots};
use hansa_core::runtime;
use serde_json::{json, Value};

fn main() {
    let report = if std::env::args().nth(1).as_deref() == Some("init") {
        init()
    } else {
        search()
    };
    println!("{report:#}");
}

fn search() -> Value {
    let inputs = Inputs::of_process();
    let config = Config::load(&inputs);
    let roots = Roots::of_process(&inputs.environment);
    let plugins = Plugins::find(roots, &config, inputs.environment.secure(), &[]);
    json!(plugins.report())
}

fn init() -> Value {
    let status = |result: hansa_core::Result<()>| match result {
        Ok(()) => json!({ "status": 0 }),
        Err(error) => json!({ "status": error.status().0, "error": error.to_string() }),
    };
    let started = status(runtime::init(&[]));
    let running = runtime::current().ok().map(|runtime| {
        let drivers: Vec<&str> = runtime.drivers.iter().map(|driver| driver.id.as_str()).collect();
        json!({ "drivers": drivers, "agents": runtime.agents.len(), "report": &*runtime.report.lock() })
    });
    let ended = running.is_some().then(|| status(runtime::shut_down()));
    json!({ "init": started, "runtime": running, "shut_down": ended })
}
