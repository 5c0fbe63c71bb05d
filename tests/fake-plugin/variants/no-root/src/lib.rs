//! A library with a plugin's note and no root module.

#[path = "../../../src/behaviour.rs"]
mod behaviour;
#[path = "../../../src/fake.rs"]
mod fake;

use hansa_plugin_api::note::{size, Note};

/// The note that `export_plugin!` makes, without the rest of it.
#[used]
#[link_section = ".note.hansa"]
pub static NOTE: Note<{ size(&fake::FACTS) }> = Note::new(&fake::FACTS);
