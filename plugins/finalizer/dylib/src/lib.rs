//! The finalizer extension as a loadable plugin.

hansa_plugin_api::export_plugin!(hansa_finalizer::FinalizerPlugin);
