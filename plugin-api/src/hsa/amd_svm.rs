//! Shared virtual memory: attributes of ranges of ordinary memory.

abi_enum! {
    /// Memory model of a range.
    hsa_amd_svm_model_t: u32 {
        /// Writes become visible while kernels run.
        FINE_GRAINED = 0 => HSA_AMD_SVM_GLOBAL_FLAG_FINE_GRAINED,
        /// One agent writes at a time.
        COARSE_GRAINED = 1 => HSA_AMD_SVM_GLOBAL_FLAG_COARSE_GRAINED,
        /// Parts differ; only as an answer.
        INDETERMINATE = 2 => HSA_AMD_SVM_GLOBAL_FLAG_INDETERMINATE,
    }
}

abi_enum! {
    /// Attributes of a range.
    hsa_amd_svm_attribute_t: u32 {
        /// `hsa_amd_svm_model_t`: its memory model.
        GLOBAL_FLAG = 0 => HSA_AMD_SVM_ATTRIB_GLOBAL_FLAG,
        /// `bool`: only read, so it may be copied to each reader.
        READ_ONLY = 1 => HSA_AMD_SVM_ATTRIB_READ_ONLY,
        /// `bool`: stay among GPUs linked by xGMI.
        HIVE_LOCAL = 2 => HSA_AMD_SVM_ATTRIB_HIVE_LOCAL,
        /// `uint64_t`: binary logarithm of the pages moved at once.
        MIGRATION_GRANULARITY = 3 => HSA_AMD_SVM_ATTRIB_MIGRATION_GRANULARITY,
        /// `hsa_agent_t`: where it should be; 0 for anywhere.
        PREFERRED_LOCATION = 4 => HSA_AMD_SVM_ATTRIB_PREFERRED_LOCATION,
        /// `hsa_agent_t`: where it was last prefetched to; only as a question.
        PREFETCH_LOCATION = 5 => HSA_AMD_SVM_ATTRIB_PREFETCH_LOCATION,
        /// `bool`: mostly read.
        READ_MOSTLY = 6 => HSA_AMD_SVM_ATTRIB_READ_MOSTLY,
        /// `bool`: code may live here.
        GPU_EXEC = 7 => HSA_AMD_SVM_ATTRIB_GPU_EXEC,
        /// `hsa_agent_t`: this agent may use it.
        AGENT_ACCESSIBLE = 0x200 => HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE,
        /// `hsa_agent_t`: this agent may use it where it is, without faults.
        AGENT_ACCESSIBLE_IN_PLACE = 0x201 => HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE_IN_PLACE,
        /// `hsa_agent_t`: this agent may not use it.
        AGENT_NO_ACCESS = 0x202 => HSA_AMD_SVM_ATTRIB_AGENT_NO_ACCESS,
        /// `hsa_agent_t`: asks how this agent may use it; the answer replaces the attribute.
        ACCESS_QUERY = 0x203 => HSA_AMD_SVM_ATTRIB_ACCESS_QUERY,
    }
}

abi_struct! {
    /// One attribute of a range.
    hsa_amd_svm_attribute_pair_t {
        /// `hsa_amd_svm_attribute_t`.
        attribute: u64,
        /// Its value.
        value: u64,
    }
}
