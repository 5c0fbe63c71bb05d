//! Interface of AMD's library of counter and trace packets, which is loaded at run time.

use core::ffi::{c_char, c_int, c_void};

use super::agent::hsa_agent_t;
use super::signal::hsa_signal_t;
use super::status::hsa_status_t;

/// Major version of the library.
pub const HSA_AQLPROFILE_VERSION_MAJOR: u32 = 2;

/// Minor version of the library.
pub const HSA_AQLPROFILE_VERSION_MINOR: u32 = 0;

abi_enum! {
    /// Kind of profile.
    hsa_ven_amd_aqlprofile_event_type_t: u32 {
        /// Performance counters.
        PMC = 0 => HSA_VEN_AMD_AQLPROFILE_EVENT_TYPE_PMC,
        /// Trace.
        TRACE = 1 => HSA_VEN_AMD_AQLPROFILE_EVENT_TYPE_TRACE,
    }
}

abi_enum! {
    /// Hardware block with counters.
    hsa_ven_amd_aqlprofile_block_name_t: u32 {
        /// Block CPC.
        CPC = 0 => HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_CPC,
        /// Block CPF.
        CPF = 1 => HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_CPF,
        /// Block GDS.
        GDS = 2 => HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_GDS,
        /// Block GRBM.
        GRBM = 3 => HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_GRBM,
        /// Block GRBMSE.
        GRBMSE = 4 => HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_GRBMSE,
        /// Block SPI.
        SPI = 5 => HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_SPI,
        /// Block SQ.
        SQ = 6 => HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_SQ,
        /// Block SQCS.
        SQCS = 7 => HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_SQCS,
        /// Block SRBM.
        SRBM = 8 => HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_SRBM,
        /// Block SX.
        SX = 9 => HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_SX,
        /// Block TA.
        TA = 10 => HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_TA,
        /// Block TCA.
        TCA = 11 => HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_TCA,
        /// Block TCC.
        TCC = 12 => HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_TCC,
        /// Block TCP.
        TCP = 13 => HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_TCP,
        /// Block TD.
        TD = 14 => HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_TD,
        /// Block MCARB.
        MCARB = 15 => HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_MCARB,
        /// Block MCHUB.
        MCHUB = 16 => HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_MCHUB,
        /// Block MCMCBVM.
        MCMCBVM = 17 => HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_MCMCBVM,
        /// Block MCSEQ.
        MCSEQ = 18 => HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_MCSEQ,
        /// Block MCVML2.
        MCVML2 = 19 => HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_MCVML2,
        /// Block MCXBAR.
        MCXBAR = 20 => HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_MCXBAR,
        /// Block ATC.
        ATC = 21 => HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_ATC,
        /// Block ATCL2.
        ATCL2 = 22 => HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_ATCL2,
        /// Block GCEA.
        GCEA = 23 => HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_GCEA,
        /// Block RPB.
        RPB = 24 => HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_RPB,
        /// Block SDMA.
        SDMA = 25 => HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_SDMA,
        /// Block GL1A.
        GL1A = 26 => HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_GL1A,
        /// Block GL1C.
        GL1C = 27 => HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_GL1C,
        /// Block GL2A.
        GL2A = 28 => HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_GL2A,
        /// Block GL2C.
        GL2C = 29 => HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_GL2C,
        /// Block GCR.
        GCR = 30 => HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_GCR,
        /// Block GUS.
        GUS = 31 => HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_GUS,
        /// Block UMC.
        UMC = 32 => HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_UMC,
        /// Block MMEA.
        MMEA = 33 => HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_MMEA,
        /// Number of blocks.
        BLOCKS_NUMBER = 34 => HSA_VEN_AMD_AQLPROFILE_BLOCKS_NUMBER,
    }
}

abi_struct! {
    /// One counter.
    hsa_ven_amd_aqlprofile_event_t {
        /// Block.
        block_name: hsa_ven_amd_aqlprofile_block_name_t,
        /// Which of the blocks of that name.
        block_index: u32,
        /// Counter of the block.
        counter_id: u32,
    }
}

abi_enum! {
    /// Parameter of a trace.
    hsa_ven_amd_aqlprofile_parameter_name_t: u32 {
        /// Compute unit to trace.
        COMPUTE_UNIT_TARGET = 0 => HSA_VEN_AMD_AQLPROFILE_PARAMETER_NAME_COMPUTE_UNIT_TARGET,
        /// Virtual memory ids to trace.
        VM_ID_MASK = 1 => HSA_VEN_AMD_AQLPROFILE_PARAMETER_NAME_VM_ID_MASK,
        /// Trace mask.
        MASK = 2 => HSA_VEN_AMD_AQLPROFILE_PARAMETER_NAME_MASK,
        /// Token mask.
        TOKEN_MASK = 3 => HSA_VEN_AMD_AQLPROFILE_PARAMETER_NAME_TOKEN_MASK,
        /// Second token mask.
        TOKEN_MASK2 = 4 => HSA_VEN_AMD_AQLPROFILE_PARAMETER_NAME_TOKEN_MASK2,
        /// Shader engines to trace.
        SE_MASK = 5 => HSA_VEN_AMD_AQLPROFILE_PARAMETER_NAME_SE_MASK,
        /// Sample rate.
        SAMPLE_RATE = 6 => HSA_VEN_AMD_AQLPROFILE_PARAMETER_NAME_SAMPLE_RATE,
        /// Whether kernels run at the same time.
        K_CONCURRENT = 7 => HSA_VEN_AMD_AQLPROFILE_PARAMETER_NAME_K_CONCURRENT,
        /// SIMDs to trace.
        SIMD_SELECTION = 8 => HSA_VEN_AMD_AQLPROFILE_PARAMETER_NAME_SIMD_SELECTION,
        /// Occupancy mode.
        OCCUPANCY_MODE = 9 => HSA_VEN_AMD_AQLPROFILE_PARAMETER_NAME_OCCUPANCY_MODE,
        /// Bytes of the trace buffer.
        ATT_BUFFER_SIZE = 10 => HSA_VEN_AMD_AQLPROFILE_PARAMETER_NAME_ATT_BUFFER_SIZE,
        /// Counters in the trace: mask.
        PERFCOUNTER_MASK = 240 => HSA_VEN_AMD_AQLPROFILE_PARAMETER_NAME_PERFCOUNTER_MASK,
        /// Counters in the trace: control.
        PERFCOUNTER_CTRL = 241 => HSA_VEN_AMD_AQLPROFILE_PARAMETER_NAME_PERFCOUNTER_CTRL,
        /// Counters in the trace: name.
        PERFCOUNTER_NAME = 242 => HSA_VEN_AMD_AQLPROFILE_PARAMETER_NAME_PERFCOUNTER_NAME,
    }
}

abi_struct! {
    /// One parameter.
    hsa_ven_amd_aqlprofile_parameter_t {
        /// Parameter.
        parameter_name: hsa_ven_amd_aqlprofile_parameter_name_t,
        /// Its value.
        value: u32,
    }
}

abi_enum! {
    /// Channel of a marker.
    hsa_ven_amd_aqlprofile_att_marker_channel_t: u32 {
        /// Channel 0.
        CHANNEL_0 = 0 => HSA_VEN_AMD_AQLPROFILE_ATT_CHANNEL_0,
        /// Channel 1.
        CHANNEL_1 = 1 => HSA_VEN_AMD_AQLPROFILE_ATT_CHANNEL_1,
        /// Channel 2.
        CHANNEL_2 = 2 => HSA_VEN_AMD_AQLPROFILE_ATT_CHANNEL_2,
        /// Channel 3.
        CHANNEL_3 = 3 => HSA_VEN_AMD_AQLPROFILE_ATT_CHANNEL_3,
    }
}

abi_struct! {
    /// A buffer.
    hsa_ven_amd_aqlprofile_descriptor_t {
        /// First byte.
        ptr: *mut c_void,
        /// Bytes.
        size: u32,
    }
}

abi_struct! {
    /// What to measure and where to.
    hsa_ven_amd_aqlprofile_profile_t {
        /// Agent.
        agent: hsa_agent_t,
        /// Kind.
        r#type: hsa_ven_amd_aqlprofile_event_type_t,
        /// Counters.
        events: *const hsa_ven_amd_aqlprofile_event_t,
        /// Number of counters.
        event_count: u32,
        /// Parameters.
        parameters: *const hsa_ven_amd_aqlprofile_parameter_t,
        /// Number of parameters.
        parameter_count: u32,
        /// Where results go.
        output_buffer: hsa_ven_amd_aqlprofile_descriptor_t,
        /// Where commands go.
        command_buffer: hsa_ven_amd_aqlprofile_descriptor_t,
    }
}

abi_struct! {
    /// Vendor packet with commands.
    hsa_ext_amd_aql_pm4_packet_t {
        /// Type, barrier and fences.
        header: u16,
        /// Commands.
        pm4_command: [u16; 27],
        /// Decremented at the end; 0 for none.
        completion_signal: hsa_signal_t,
    }
}

abi_struct! {
    /// A counter and its value; an unnamed structure in C.
    hsa_ven_amd_aqlprofile_pmc_data_t {
        /// Counter.
        event: hsa_ven_amd_aqlprofile_event_t,
        /// Its value.
        result: u64,
    }
}

/// A result: which arm holds is said by the kind of profile.
#[repr(C)]
#[derive(Clone, Copy)]
pub union hsa_ven_amd_aqlprofile_result_t {
    /// For counters.
    pub pmc_data: hsa_ven_amd_aqlprofile_pmc_data_t,
    /// For a trace.
    pub trace_data: hsa_ven_amd_aqlprofile_descriptor_t,
}
opaque_debug!(hsa_ven_amd_aqlprofile_result_t);

abi_struct! {
    /// One result. The union has no name in C.
    hsa_ven_amd_aqlprofile_info_data_t {
        /// Number of the sample.
        sample_id: u32,
        /// The result.
        data: hsa_ven_amd_aqlprofile_result_t,
    }
}

abi_struct! {
    /// Asks for a block by its name.
    hsa_ven_amd_aqlprofile_id_query_t {
        /// Name.
        name: *const c_char,
        /// Out: block.
        id: u32,
        /// Out: how many there are.
        instance_count: u32,
    }
}

abi_enum! {
    /// What `hsa_ven_amd_aqlprofile_get_info` can be asked.
    hsa_ven_amd_aqlprofile_info_type_t: u32 {
        /// `uint32_t`: bytes of the command buffer.
        COMMAND_BUFFER_SIZE = 0 => HSA_VEN_AMD_AQLPROFILE_INFO_COMMAND_BUFFER_SIZE,
        /// `uint32_t`: bytes of the counter values.
        PMC_DATA_SIZE = 1 => HSA_VEN_AMD_AQLPROFILE_INFO_PMC_DATA_SIZE,
        /// `hsa_ven_amd_aqlprofile_info_data_t`: a counter value.
        PMC_DATA = 2 => HSA_VEN_AMD_AQLPROFILE_INFO_PMC_DATA,
        /// `hsa_ven_amd_aqlprofile_info_data_t`: trace data.
        TRACE_DATA = 3 => HSA_VEN_AMD_AQLPROFILE_INFO_TRACE_DATA,
        /// `uint32_t`: counters of a block.
        BLOCK_COUNTERS = 4 => HSA_VEN_AMD_AQLPROFILE_INFO_BLOCK_COUNTERS,
        /// `hsa_ven_amd_aqlprofile_id_query_t`: a block by its name.
        BLOCK_ID = 5 => HSA_VEN_AMD_AQLPROFILE_INFO_BLOCK_ID,
        /// `hsa_ven_amd_aqlprofile_descriptor_t`: commands that enable profiling.
        ENABLE_CMD = 6 => HSA_VEN_AMD_AQLPROFILE_INFO_ENABLE_CMD,
        /// `hsa_ven_amd_aqlprofile_descriptor_t`: commands that disable profiling.
        DISABLE_CMD = 7 => HSA_VEN_AMD_AQLPROFILE_INFO_DISABLE_CMD,
    }
}

/// Called once for each result.
pub type hsa_ven_amd_aqlprofile_data_callback_t = Option<
    unsafe extern "C" fn(
        info_type: hsa_ven_amd_aqlprofile_info_type_t,
        info_data: *mut hsa_ven_amd_aqlprofile_info_data_t,
        callback_data: *mut c_void,
    ) -> hsa_status_t,
>;

/// Called once for each event name.
pub type hsa_ven_amd_aqlprofile_eventname_callback_t =
    Option<unsafe extern "C" fn(id: c_int, name: *const c_char) -> hsa_status_t>;

/// Called once for each coordinate.
pub type hsa_ven_amd_aqlprofile_coordinate_callback_t = Option<
    unsafe extern "C" fn(
        position: c_int,
        id: c_int,
        extent: c_int,
        coordinate: c_int,
        name: *const c_char,
        userdata: *mut c_void,
    ) -> hsa_status_t,
>;
