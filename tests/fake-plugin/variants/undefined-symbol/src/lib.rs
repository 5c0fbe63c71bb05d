//! The fake plugin, needing a symbol that nobody has: opening it with `RTLD_NOW` must fail, and must
//! not end the program.

#[path = "../../../src/behaviour.rs"]
mod behaviour;
#[path = "../../../src/facts.rs"]
mod facts;
#[path = "../../../src/fake.rs"]
mod fake;

extern "C" {
    fn hansa_symbol_that_nobody_has();
}

/// Keeps the reference alive.
#[used]
static NEEDED: unsafe extern "C" fn() = hansa_symbol_that_nobody_has;

hansa_plugin_api::export_plugin!(fake::Fake);
