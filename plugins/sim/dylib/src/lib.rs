//! The software GPU as a loadable plugin
