//! AMD GPUs through the kernel's `/dev/kfd`, as a loadable plugin.

hansa_plugin_api::export_plugin!(hansa_kfd::KfdPlugin);
