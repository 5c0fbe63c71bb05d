//! End-to-end tests: C clients, virtual kernel devices, plugins
