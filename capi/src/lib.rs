//! libhsa-runtime64.so.1 and the hansa command
