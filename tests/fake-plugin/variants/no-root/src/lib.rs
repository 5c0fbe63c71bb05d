//! A library with a plugin's note and no root module.

#[path = "../../../src/facts.rs"]
mod facts;

use hansa_plugin_api::note::{size, Note};

/// The note that `export_plugin!` makes, without the rest of it.
#[used]
#[link_section = ".note.hansa"]
pub static NOTE: Note<{ size(&facts::FACTS) }> = Note::new(&facts::FACTS);
