//! AMD GPUs inside a virtual machine, through virtio-gpu, as a loadable plugin.

hansa_plugin_api::export_plugin!(hansa_kfd_virtio::KfdVirtioPlugin);
