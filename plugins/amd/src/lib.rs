//! The AMD extension: hsa_amd_* and the vendor tables
