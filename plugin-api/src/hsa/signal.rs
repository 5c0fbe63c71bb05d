//! Signal handles, conditions and wait hints (HSA Runtime PRM 1.2, section 2.4).

abi_handle! {
    /// Names a signal; on AMD it is the address of an `amd_signal_t`. 0 is no signal.
    hsa_signal_t
}

/// Value of a signal in the large machine model.
pub type hsa_signal_value_t = i64;

abi_enum! {
    /// How the value of a signal is compared in a wait.
    hsa_signal_condition_t: u32 {
        /// Equal.
        EQ = 0 => HSA_SIGNAL_CONDITION_EQ,
        /// Not equal.
        NE = 1 => HSA_SIGNAL_CONDITION_NE,
        /// Less than.
        LT = 2 => HSA_SIGNAL_CONDITION_LT,
        /// Greater than or equal.
        GTE = 3 => HSA_SIGNAL_CONDITION_GTE,
    }
}

abi_enum! {
    /// What a waiting thread should rather do.
    hsa_wait_state_t: u32 {
        /// Sleep: the wait may be long.
        BLOCKED = 0 => HSA_WAIT_STATE_BLOCKED,
        /// Spin: the wait is short.
        ACTIVE = 1 => HSA_WAIT_STATE_ACTIVE,
    }
}

abi_handle! {
    /// Names a group of signals.
    hsa_signal_group_t
}
