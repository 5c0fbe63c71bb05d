//! AMD NPUs through the kernel's `/dev/accel`, as a loadable plugin.

hansa_plugin_api::export_plugin!(hansa_xdna::XdnaPlugin);
