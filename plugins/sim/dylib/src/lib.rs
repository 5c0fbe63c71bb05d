//! The software GPU as a loadable plugin: exports the root module of `hansa-sim`.

hansa_plugin_api::export_plugin!(hansa_sim::SimPlugin);
