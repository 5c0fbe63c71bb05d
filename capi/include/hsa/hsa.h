/*
 * SPDX-License-Identifier: MIT OR Apache-2.0
 * Part of Hansa, an HSA runtime.
 *
 * The HSA runtime interface, version 1.2 of the standard with the values AMD adds to its types.
 *
 * How each function behaves is defined by the HSA Runtime Programmer's Reference Manual 1.2; the
 * comments here only say what a thing is for. In comments of attributes, the type in front of the
 * colon is that of the value.
 */
#ifndef HSA_RUNTIME_INC_HSA_H_
#define HSA_RUNTIME_INC_HSA_H_

#include <stddef.h>
#include <stdint.h>
#ifndef __cplusplus
#include <stdbool.h>
#endif

/* Calling convention, visibility and deprecation; a program may define them beforehand. */
#ifndef HSA_CALL
#define HSA_CALL
#endif
#ifndef HSA_EXPORT_DECORATOR
#ifdef __GNUC__
#define HSA_EXPORT_DECORATOR __attribute__((visibility("default")))
#else
#define HSA_EXPORT_DECORATOR
#endif
#endif
#define HSA_API_EXPORT HSA_EXPORT_DECORATOR HSA_CALL
#define HSA_API_IMPORT HSA_CALL
#if !defined(HSA_API) && defined(HSA_EXPORT)
#define HSA_API HSA_API_EXPORT
#else
#define HSA_API HSA_API_IMPORT
#endif
#ifndef HSA_DEPRECATED
#define HSA_DEPRECATED
#endif

/* Unnamed members are younger than C99; this keeps strict compilers quiet about them. */
#ifdef __GNUC__
#define HSA_EXTENSION __extension__
#define HSA_UNUSED __attribute__((unused))
#else
#define HSA_EXTENSION
#define HSA_UNUSED
#endif

/* Machine model: large where an address has 64 bits. */
#undef HSA_LARGE_MODEL
#if defined(__LP64__) || defined(_M_X64)
#define HSA_LARGE_MODEL
#endif

/* Byte order; a program for an unknown compiler defines LITTLEENDIAN_CPU or BIGENDIAN_CPU. */
#if !defined(LITTLEENDIAN_CPU) && !defined(BIGENDIAN_CPU)
#if defined(__BYTE_ORDER__)
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define LITTLEENDIAN_CPU
#else
#define BIGENDIAN_CPU
#endif
#elif defined(_M_IX86) || defined(_M_X64)
#define LITTLEENDIAN_CPU
#endif
#endif
#undef HSA_LITTLE_ENDIAN
#if defined(LITTLEENDIAN_CPU)
#define HSA_LITTLE_ENDIAN
#elif !defined(BIGENDIAN_CPU)
#error "define LITTLEENDIAN_CPU or BIGENDIAN_CPU"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Status codes ---- */

/** What a function of the runtime answers. */
typedef enum {
  HSA_STATUS_SUCCESS = 0x0, /**< The call did what was asked. */
  HSA_STATUS_INFO_BREAK = 0x1, /**< A callback asked for the iteration to stop; this is no error. */
  HSA_STATUS_ERROR = 0x1000, /**< An error that has no code of its own. */
  HSA_STATUS_ERROR_INVALID_ARGUMENT = 0x1001, /**< An argument is not one of those the function accepts. */
  HSA_STATUS_ERROR_INVALID_QUEUE_CREATION = 0x1002, /**< The agent cannot create a queue of this kind. */
  /** The memory cannot be allocated like this, or the address is not in a fitting allocation. */
  HSA_STATUS_ERROR_INVALID_ALLOCATION = 0x1003,
  HSA_STATUS_ERROR_INVALID_AGENT = 0x1004, /**< The agent handle names no agent that can do this. */
  HSA_STATUS_ERROR_INVALID_REGION = 0x1005, /**< The region handle names no memory region. */
  HSA_STATUS_ERROR_INVALID_SIGNAL = 0x1006, /**< The signal handle names no signal. */
  HSA_STATUS_ERROR_INVALID_QUEUE = 0x1007, /**< The pointer is not that of a live queue. */
  /** Memory or another resource needed for the call has run out. */
  HSA_STATUS_ERROR_OUT_OF_RESOURCES = 0x1008,
  /** A packet in a queue has a type or layout its packet processor does not know. */
  HSA_STATUS_ERROR_INVALID_PACKET_FORMAT = 0x1009,
  HSA_STATUS_ERROR_RESOURCE_FREE = 0x100A, /**< Releasing a resource failed. */
  /** The runtime has not been started by hsa_init, or has been shut down. */
  HSA_STATUS_ERROR_NOT_INITIALIZED = 0x100B,
  HSA_STATUS_ERROR_REFCOUNT_OVERFLOW = 0x100C, /**< A reference count has reached its largest value. */
  /** Each argument is valid, but they do not fit together. */
  HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS = 0x100D,
  HSA_STATUS_ERROR_INVALID_INDEX = 0x100E, /**< The index is past the end of what it indexes. */
  HSA_STATUS_ERROR_INVALID_ISA = 0x100F, /**< The handle names no instruction set. */
  HSA_STATUS_ERROR_INVALID_ISA_NAME = 0x1017, /**< No known instruction set has this name. */
  /** The code object is malformed, or not of a kind that can be used here. */
  HSA_STATUS_ERROR_INVALID_CODE_OBJECT = 0x1010,
  /** The handle names no executable, or the executable is not valid. */
  HSA_STATUS_ERROR_INVALID_EXECUTABLE = 0x1011,
  HSA_STATUS_ERROR_FROZEN_EXECUTABLE = 0x1012, /**< The executable is frozen and takes no more changes. */
  HSA_STATUS_ERROR_INVALID_SYMBOL_NAME = 0x1013, /**< No symbol has this name. */
  HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED = 0x1014, /**< The variable already has a definition. */
  HSA_STATUS_ERROR_VARIABLE_UNDEFINED = 0x1015, /**< The variable has no definition. */
  HSA_STATUS_ERROR_EXCEPTION = 0x1016, /**< A kernel raised a hardware exception. */
  HSA_STATUS_ERROR_INVALID_CODE_SYMBOL = 0x1018, /**< The handle names no symbol of a code object. */
  HSA_STATUS_ERROR_INVALID_EXECUTABLE_SYMBOL = 0x1019, /**< The handle names no symbol of an executable. */
  HSA_STATUS_ERROR_INVALID_FILE = 0x1020, /**< The file descriptor cannot be read. */
  HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER = 0x1021, /**< The handle names no code object reader. */
  HSA_STATUS_ERROR_INVALID_CACHE = 0x1022, /**< The handle names no cache. */
  HSA_STATUS_ERROR_INVALID_WAVEFRONT = 0x1023, /**< The handle names no wavefront. */
  HSA_STATUS_ERROR_INVALID_SIGNAL_GROUP = 0x1024, /**< The handle names no signal group. */
  /** The runtime is in a state in which this cannot be done. */
  HSA_STATUS_ERROR_INVALID_RUNTIME_STATE = 0x1025,
  /** A queue met an error after which its process may be in an undefined state. */
  HSA_STATUS_ERROR_FATAL = 0x1026
} hsa_status_t;

/** Gives the constant text that describes a status code. */
hsa_status_t HSA_API hsa_status_string(hsa_status_t status, const char **status_string);

/* ---- Common types ---- */

/** Three 32-bit extents or coordinates. */
typedef struct hsa_dim3_s {
  uint32_t x; /**< Along X. */
  uint32_t y; /**< Along Y. */
  uint32_t z; /**< Along Z. */
} hsa_dim3_t;

/** How an agent may touch memory or an image; a set of bits. */
typedef enum {
  HSA_ACCESS_PERMISSION_NONE = 0, /**< No access. */
  HSA_ACCESS_PERMISSION_RO = 1, /**< Reading only. */
  HSA_ACCESS_PERMISSION_WO = 2, /**< Writing only. */
  HSA_ACCESS_PERMISSION_RW = 3 /**< Reading and writing. */
} hsa_access_permission_t;

/** An open POSIX file descriptor. */
typedef int hsa_file_t;

/** An operating system handle: on Linux a file descriptor. */
typedef int hsa_handle_t;

/* ---- Starting, stopping and asking the runtime ---- */

/** Defined where version 1.0 of the interface is offered. */
#define HSA_VERSION_1_0 1

/** Starts the runtime, or counts one more user of the running one. */
hsa_status_t HSA_API hsa_init(void);

/** Takes back one hsa_init; the last one releases everything. */
hsa_status_t HSA_API hsa_shut_down(void);

/** Byte order. */
typedef enum {
  HSA_ENDIANNESS_LITTLE = 0, /**< Least significant byte first. */
  HSA_ENDIANNESS_BIG = 1 /**< Most significant byte first. */
} hsa_endianness_t;

/** Width of addresses. */
typedef enum {
  HSA_MACHINE_MODEL_SMALL = 0, /**< 32-bit addresses. */
  HSA_MACHINE_MODEL_LARGE = 1 /**< 64-bit addresses. */
} hsa_machine_model_t;

/** Feature profile of the standard. */
typedef enum {
  HSA_PROFILE_BASE = 0, /**< Base profile. */
  HSA_PROFILE_FULL = 1 /**< Full profile: agents share the address space of the process. */
} hsa_profile_t;

/** What hsa_system_get_info can be asked. */
typedef enum {
  HSA_SYSTEM_INFO_VERSION_MAJOR = 0, /**< uint16_t: major version of the interface. */
  HSA_SYSTEM_INFO_VERSION_MINOR = 1, /**< uint16_t: minor version of the interface. */
  HSA_SYSTEM_INFO_TIMESTAMP = 2, /**< uint64_t: the system clock now. */
  HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY = 3, /**< uint64_t: ticks of the system clock per second. */
  HSA_SYSTEM_INFO_SIGNAL_MAX_WAIT = 4, /**< uint64_t: longest wait on a signal, in ticks. */
  HSA_SYSTEM_INFO_ENDIANNESS = 5, /**< hsa_endianness_t: byte order of the system. */
  HSA_SYSTEM_INFO_MACHINE_MODEL = 6, /**< hsa_machine_model_t: address width of the system. */
  HSA_SYSTEM_INFO_EXTENSIONS = 7, /**< uint8_t[128]: one bit for each supported extension. */
  HSA_AMD_SYSTEM_INFO_BUILD_VERSION = 0x200, /**< const char *: version text of this build. */
  HSA_AMD_SYSTEM_INFO_SVM_SUPPORTED = 0x201, /**< bool: whether the shared virtual memory calls work. */
  /** bool: whether agents reach all memory of the process without asking. */
  HSA_AMD_SYSTEM_INFO_SVM_ACCESSIBLE_BY_DEFAULT = 0x202,
  HSA_AMD_SYSTEM_INFO_MWAITX_ENABLED = 0x203, /**< bool: whether waits use the MWAITX instruction. */
  HSA_AMD_SYSTEM_INFO_DMABUF_SUPPORTED = 0x204, /**< bool: whether allocations can be exported as dma-buf. */
  HSA_AMD_SYSTEM_INFO_VIRTUAL_MEM_API_SUPPORTED = 0x205, /**< bool: whether the hsa_amd_vmem calls work. */
  /** bool: whether this process runs with retryable page faults. */
  HSA_AMD_SYSTEM_INFO_XNACK_ENABLED = 0x206,
  HSA_AMD_SYSTEM_INFO_EXT_VERSION_MAJOR = 0x207, /**< uint16_t: major version of the AMD extension. */
  HSA_AMD_SYSTEM_INFO_EXT_VERSION_MINOR = 0x208, /**< uint16_t: minor version of the AMD extension. */
  /** bool: whether there are GPUs and all of them take fabric handles. */
  HSA_AMD_SYSTEM_INFO_FABRIC_HANDLES_SUPPORTED = 0x209,
  /** bool: whether host memory of the virtual memory calls can be exported as dma-buf. */
  HSA_AMD_SYSTEM_INFO_HOST_ALLOC_DMA_BUF_SUPPORTED = 0x20A
} hsa_system_info_t;

/** Reads one property of the system. */
hsa_status_t HSA_API hsa_system_get_info(hsa_system_info_t attribute, void *value);

/** Numbers of the extensions. */
typedef enum {
  HSA_EXTENSION_FINALIZER = 0, /**< Finalizer: from HSAIL to machine code. */
  HSA_EXTENSION_IMAGES = 1, /**< Images and samplers. */
  HSA_EXTENSION_PERFORMANCE_COUNTERS = 2, /**< Performance counters. */
  HSA_EXTENSION_PROFILING_EVENTS = 3, /**< Profiling events. */
  HSA_EXTENSION_STD_LAST = 3, /**< Last number of the standard. */
  HSA_AMD_FIRST_EXTENSION = 0x200, /**< First number of AMD. */
  HSA_EXTENSION_AMD_PROFILER = 0x200, /**< Profiler. */
  HSA_EXTENSION_AMD_LOADER = 0x201, /**< Loader queries. */
  HSA_EXTENSION_AMD_AQLPROFILE = 0x202, /**< Counter and trace packets. */
  HSA_EXTENSION_AMD_PC_SAMPLING = 0x203, /**< Program counter sampling. */
  HSA_AMD_LAST_EXTENSION = 0x203 /**< Last number of AMD. */
} hsa_extension_t;

/** Gives the constant name of an extension. */
hsa_status_t HSA_API hsa_extension_get_name(uint16_t extension, const char **name);

/** Tells whether the system has this exact version of an extension. */
hsa_status_t HSA_API HSA_DEPRECATED hsa_system_extension_supported(
    uint16_t extension, uint16_t version_major, uint16_t version_minor, bool *result);

/** Tells whether the system has an extension, and the highest minor of the major asked for. */
hsa_status_t HSA_API hsa_system_major_extension_supported(
    uint16_t extension, uint16_t version_major, uint16_t *version_minor, bool *result);

/** Copies the function table of an exact extension version. */
hsa_status_t HSA_API HSA_DEPRECATED hsa_system_get_extension_table(
    uint16_t extension, uint16_t version_major, uint16_t version_minor, void *table);

/** Copies at most table_length bytes of the function table of an extension. */
hsa_status_t HSA_API hsa_system_get_major_extension_table(
    uint16_t extension, uint16_t version_major, size_t table_length, void *table);

/* ---- Agents ---- */

/** Names an agent: a CPU, a GPU or another device. */
typedef struct hsa_agent_s {
  uint64_t handle; /**< The handle itself. */
} hsa_agent_t;

/** Packets an agent executes; a set of bits. */
typedef enum {
  HSA_AGENT_FEATURE_KERNEL_DISPATCH = 1, /**< Kernel dispatch packets. */
  HSA_AGENT_FEATURE_AGENT_DISPATCH = 2 /**< Agent dispatch packets. */
} hsa_agent_feature_t;

/** What kind of device an agent is. */
typedef enum {
  HSA_DEVICE_TYPE_CPU = 0, /**< Host processor. */
  HSA_DEVICE_TYPE_GPU = 1, /**< Graphics processor. */
  HSA_DEVICE_TYPE_DSP = 2, /**< Signal processor. */
  HSA_DEVICE_TYPE_AIE = 3 /**< Array of AI engines. */
} hsa_device_type_t;

/** Default rounding of floating point operations. */
typedef enum {
  HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT = 0, /**< The default of the agent. */
  HSA_DEFAULT_FLOAT_ROUNDING_MODE_ZERO = 1, /**< Towards zero. */
  HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR = 2 /**< To the nearest value, ties to even. */
} hsa_default_float_rounding_mode_t;

/** What hsa_agent_get_info can be asked. */
typedef enum {
  HSA_AGENT_INFO_NAME = 0, /**< char[64]: name of the agent. */
  HSA_AGENT_INFO_VENDOR_NAME = 1, /**< char[64]: name of its maker. */
  HSA_AGENT_INFO_FEATURE = 2, /**< hsa_agent_feature_t: which packets it executes. */
  HSA_AGENT_INFO_MACHINE_MODEL = 3, /**< hsa_machine_model_t: its address width. */
  HSA_AGENT_INFO_PROFILE = 4, /**< hsa_profile_t: its profile. */
  /** hsa_default_float_rounding_mode_t: its default rounding. */
  HSA_AGENT_INFO_DEFAULT_FLOAT_ROUNDING_MODE = 5,
  /** hsa_default_float_rounding_mode_t: roundings offered in the base profile, a mask. */
  HSA_AGENT_INFO_BASE_PROFILE_DEFAULT_FLOAT_ROUNDING_MODES = 23,
  HSA_AGENT_INFO_FAST_F16_OPERATION = 24, /**< bool: whether half precision is at least as fast as single. */
  HSA_AGENT_INFO_WAVEFRONT_SIZE = 6, /**< uint32_t: lanes of a wavefront. */
  HSA_AGENT_INFO_WORKGROUP_MAX_DIM = 7, /**< uint16_t[3]: largest work-group in each dimension. */
  HSA_AGENT_INFO_WORKGROUP_MAX_SIZE = 8, /**< uint32_t: most work-items of a work-group. */
  HSA_AGENT_INFO_GRID_MAX_DIM = 9, /**< hsa_dim3_t: largest grid in each dimension. */
  HSA_AGENT_INFO_GRID_MAX_SIZE = 10, /**< uint32_t: most work-items of a grid. */
  HSA_AGENT_INFO_FBARRIER_MAX_SIZE = 11, /**< uint32_t: most fbarriers of a work-group. */
  HSA_AGENT_INFO_QUEUES_MAX = 12, /**< uint32_t: most queues alive at once. */
  HSA_AGENT_INFO_QUEUE_MIN_SIZE = 13, /**< uint32_t: fewest packets of a queue. */
  HSA_AGENT_INFO_QUEUE_MAX_SIZE = 14, /**< uint32_t: most packets of a queue. */
  HSA_AGENT_INFO_QUEUE_TYPE = 15, /**< hsa_queue_type32_t: kind of queue the agent creates. */
  HSA_AGENT_INFO_NODE = 16, /**< uint32_t: node of the system the agent belongs to. */
  HSA_AGENT_INFO_DEVICE = 17, /**< hsa_device_type_t: kind of device. */
  HSA_AGENT_INFO_CACHE_SIZE = 18, /**< uint32_t[4]: bytes of the caches of level 1 to 4; 0 for none. */
  HSA_AGENT_INFO_ISA = 19, /**< hsa_isa_t: its instruction set. */
  HSA_AGENT_INFO_EXTENSIONS = 20, /**< uint8_t[128]: one bit for each extension it has. */
  HSA_AGENT_INFO_VERSION_MAJOR = 21, /**< uint16_t: major version of the standard it follows. */
  HSA_AGENT_INFO_VERSION_MINOR = 22, /**< uint16_t: minor version of the standard it follows. */
  HSA_AGENT_INFO_LAST = 0x7fffffff /**< Keeps the type wide enough for extensions. */
} hsa_agent_info_t;

/** Reads one property of an agent. */
hsa_status_t HSA_API hsa_agent_get_info(hsa_agent_t agent, hsa_agent_info_t attribute, void *value);

/** Calls back for every agent. */
hsa_status_t HSA_API hsa_iterate_agents(
    hsa_status_t (*callback)(hsa_agent_t agent, void *data), void *data);

/** What an agent can do on a hardware exception; a set of bits. */
typedef enum {
  HSA_EXCEPTION_POLICY_BREAK = 1, /**< Stop the work-item and report. */
  HSA_EXCEPTION_POLICY_DETECT = 2 /**< Set a status bit and go on. */
} hsa_exception_policy_t;

/** Gives the exception policies of an agent. */
hsa_status_t HSA_API HSA_DEPRECATED hsa_agent_get_exception_policies(
    hsa_agent_t agent, hsa_profile_t profile, uint16_t *mask);

/** Names a cache of an agent. */
typedef struct hsa_cache_s {
  uint64_t handle; /**< The handle itself. */
} hsa_cache_t;

/** What hsa_cache_get_info can be asked. */
typedef enum {
  HSA_CACHE_INFO_NAME_LENGTH = 0, /**< uint32_t: length of the name without its terminator. */
  HSA_CACHE_INFO_NAME = 1, /**< char[]: name, as long as the length says. */
  HSA_CACHE_INFO_LEVEL = 2, /**< uint8_t: level of the cache. */
  HSA_CACHE_INFO_SIZE = 3 /**< uint32_t: bytes; 0 when unknown. */
} hsa_cache_info_t;

/** Reads one property of a cache. */
hsa_status_t HSA_API hsa_cache_get_info(hsa_cache_t cache, hsa_cache_info_t attribute, void *value);

/** Calls back for every cache of an agent. */
hsa_status_t HSA_API hsa_agent_iterate_caches(
    hsa_agent_t agent, hsa_status_t (*callback)(hsa_cache_t cache, void *data), void *data);

/** Tells whether an agent has this exact version of an extension. */
hsa_status_t HSA_API HSA_DEPRECATED hsa_agent_extension_supported(
    uint16_t extension, hsa_agent_t agent, uint16_t version_major, uint16_t version_minor,
    bool *result);

/** Tells whether an agent has an extension, and the highest minor of the major asked for. */
hsa_status_t HSA_API hsa_agent_major_extension_supported(
    uint16_t extension, hsa_agent_t agent, uint16_t version_major, uint16_t *version_minor,
    bool *result);

/* ---- Signals ---- */

/** Names a signal; on AMD it is the address of an amd_signal_t. 0 is no signal. */
typedef struct hsa_signal_s {
  uint64_t handle; /**< The handle itself. */
} hsa_signal_t;

/* Value of a signal: as wide as an address. */
#ifdef HSA_LARGE_MODEL
typedef int64_t hsa_signal_value_t;
#else
typedef int32_t hsa_signal_value_t;
#endif

/** Creates a signal; naming who waits on it lets the runtime pick a cheaper kind. */
hsa_status_t HSA_API hsa_signal_create(
    hsa_signal_value_t initial_value, uint32_t num_consumers, const hsa_agent_t *consumers,
    hsa_signal_t *signal);

/** Destroys a signal. */
hsa_status_t HSA_API hsa_signal_destroy(hsa_signal_t signal);

/** Reads the value of a signal (acquire order). */
hsa_signal_value_t HSA_API hsa_signal_load_scacquire(hsa_signal_t signal);

/** Older name of hsa_signal_load_scacquire. */
hsa_signal_value_t HSA_API HSA_DEPRECATED hsa_signal_load_acquire(hsa_signal_t signal);

/** Reads the value of a signal (relaxed order). */
hsa_signal_value_t HSA_API hsa_signal_load_relaxed(hsa_signal_t signal);

/** Writes the value of a signal and wakes its waiters (relaxed order). */
void HSA_API hsa_signal_store_relaxed(hsa_signal_t signal, hsa_signal_value_t value);

/** Writes the value of a signal and wakes its waiters (release order). */
void HSA_API hsa_signal_store_screlease(hsa_signal_t signal, hsa_signal_value_t value);

/** Older name of hsa_signal_store_screlease. */
void HSA_API HSA_DEPRECATED hsa_signal_store_release(hsa_signal_t signal, hsa_signal_value_t value);

/** Writes the value of a signal without waking anybody (relaxed order). */
void HSA_API hsa_signal_silent_store_relaxed(hsa_signal_t signal, hsa_signal_value_t value);

/** Writes the value of a signal without waking anybody (release order). */
void HSA_API hsa_signal_silent_store_screlease(hsa_signal_t signal, hsa_signal_value_t value);

/** Replaces the value of a signal and gives the old one (acquire-release order). */
hsa_signal_value_t HSA_API hsa_signal_exchange_scacq_screl(
    hsa_signal_t signal, hsa_signal_value_t value);

/** Older name of hsa_signal_exchange_scacq_screl. */
hsa_signal_value_t HSA_API HSA_DEPRECATED hsa_signal_exchange_acq_rel(
    hsa_signal_t signal, hsa_signal_value_t value);

/** Replaces the value of a signal and gives the old one (acquire order). */
hsa_signal_value_t HSA_API hsa_signal_exchange_scacquire(
    hsa_signal_t signal, hsa_signal_value_t value);

/** Older name of hsa_signal_exchange_scacquire. */
hsa_signal_value_t HSA_API HSA_DEPRECATED hsa_signal_exchange_acquire(
    hsa_signal_t signal, hsa_signal_value_t value);

/** Replaces the value of a signal and gives the old one (relaxed order). */
hsa_signal_value_t HSA_API hsa_signal_exchange_relaxed(
    hsa_signal_t signal, hsa_signal_value_t value);

/** Replaces the value of a signal and gives the old one (release order). */
hsa_signal_value_t HSA_API hsa_signal_exchange_screlease(
    hsa_signal_t signal, hsa_signal_value_t value);

/** Older name of hsa_signal_exchange_screlease. */
hsa_signal_value_t HSA_API HSA_DEPRECATED hsa_signal_exchange_release(
    hsa_signal_t signal, hsa_signal_value_t value);

/** Replaces the value of a signal when it is the expected one, and gives the old one (acquire-
 *  release order). */
hsa_signal_value_t HSA_API hsa_signal_cas_scacq_screl(
    hsa_signal_t signal, hsa_signal_value_t expected, hsa_signal_value_t value);

/** Older name of hsa_signal_cas_scacq_screl. */
hsa_signal_value_t HSA_API HSA_DEPRECATED hsa_signal_cas_acq_rel(
    hsa_signal_t signal, hsa_signal_value_t expected, hsa_signal_value_t value);

/** Replaces the value of a signal when it is the expected one, and gives the old one (acquire
 *  order). */
hsa_signal_value_t HSA_API hsa_signal_cas_scacquire(
    hsa_signal_t signal, hsa_signal_value_t expected, hsa_signal_value_t value);

/** Older name of hsa_signal_cas_scacquire. */
hsa_signal_value_t HSA_API HSA_DEPRECATED hsa_signal_cas_acquire(
    hsa_signal_t signal, hsa_signal_value_t expected, hsa_signal_value_t value);

/** Replaces the value of a signal when it is the expected one, and gives the old one (relaxed
 *  order). */
hsa_signal_value_t HSA_API hsa_signal_cas_relaxed(
    hsa_signal_t signal, hsa_signal_value_t expected, hsa_signal_value_t value);

/** Replaces the value of a signal when it is the expected one, and gives the old one (release
 *  order). */
hsa_signal_value_t HSA_API hsa_signal_cas_screlease(
    hsa_signal_t signal, hsa_signal_value_t expected, hsa_signal_value_t value);

/** Older name of hsa_signal_cas_screlease. */
hsa_signal_value_t HSA_API HSA_DEPRECATED hsa_signal_cas_release(
    hsa_signal_t signal, hsa_signal_value_t expected, hsa_signal_value_t value);

/** Adds to the value of a signal (acquire-release order). */
void HSA_API hsa_signal_add_scacq_screl(hsa_signal_t signal, hsa_signal_value_t value);

/** Older name of hsa_signal_add_scacq_screl. */
void HSA_API HSA_DEPRECATED hsa_signal_add_acq_rel(hsa_signal_t signal, hsa_signal_value_t value);

/** Adds to the value of a signal (acquire order). */
void HSA_API hsa_signal_add_scacquire(hsa_signal_t signal, hsa_signal_value_t value);

/** Older name of hsa_signal_add_scacquire. */
void HSA_API HSA_DEPRECATED hsa_signal_add_acquire(hsa_signal_t signal, hsa_signal_value_t value);

/** Adds to the value of a signal (relaxed order). */
void HSA_API hsa_signal_add_relaxed(hsa_signal_t signal, hsa_signal_value_t value);

/** Adds to the value of a signal (release order). */
void HSA_API hsa_signal_add_screlease(hsa_signal_t signal, hsa_signal_value_t value);

/** Older name of hsa_signal_add_screlease. */
void HSA_API HSA_DEPRECATED hsa_signal_add_release(hsa_signal_t signal, hsa_signal_value_t value);

/** Subtracts from the value of a signal (acquire-release order). */
void HSA_API hsa_signal_subtract_scacq_screl(hsa_signal_t signal, hsa_signal_value_t value);

/** Older name of hsa_signal_subtract_scacq_screl. */
void HSA_API HSA_DEPRECATED hsa_signal_subtract_acq_rel(
    hsa_signal_t signal, hsa_signal_value_t value);

/** Subtracts from the value of a signal (acquire order). */
void HSA_API hsa_signal_subtract_scacquire(hsa_signal_t signal, hsa_signal_value_t value);

/** Older name of hsa_signal_subtract_scacquire. */
void HSA_API HSA_DEPRECATED hsa_signal_subtract_acquire(
    hsa_signal_t signal, hsa_signal_value_t value);

/** Subtracts from the value of a signal (relaxed order). */
void HSA_API hsa_signal_subtract_relaxed(hsa_signal_t signal, hsa_signal_value_t value);

/** Subtracts from the value of a signal (release order). */
void HSA_API hsa_signal_subtract_screlease(hsa_signal_t signal, hsa_signal_value_t value);

/** Older name of hsa_signal_subtract_screlease. */
void HSA_API HSA_DEPRECATED hsa_signal_subtract_release(
    hsa_signal_t signal, hsa_signal_value_t value);

/** Combines the value of a signal by bitwise and (acquire-release order). */
void HSA_API hsa_signal_and_scacq_screl(hsa_signal_t signal, hsa_signal_value_t value);

/** Older name of hsa_signal_and_scacq_screl. */
void HSA_API HSA_DEPRECATED hsa_signal_and_acq_rel(hsa_signal_t signal, hsa_signal_value_t value);

/** Combines the value of a signal by bitwise and (acquire order). */
void HSA_API hsa_signal_and_scacquire(hsa_signal_t signal, hsa_signal_value_t value);

/** Older name of hsa_signal_and_scacquire. */
void HSA_API HSA_DEPRECATED hsa_signal_and_acquire(hsa_signal_t signal, hsa_signal_value_t value);

/** Combines the value of a signal by bitwise and (relaxed order). */
void HSA_API hsa_signal_and_relaxed(hsa_signal_t signal, hsa_signal_value_t value);

/** Combines the value of a signal by bitwise and (release order). */
void HSA_API hsa_signal_and_screlease(hsa_signal_t signal, hsa_signal_value_t value);

/** Older name of hsa_signal_and_screlease. */
void HSA_API HSA_DEPRECATED hsa_signal_and_release(hsa_signal_t signal, hsa_signal_value_t value);

/** Combines the value of a signal by bitwise or (acquire-release order). */
void HSA_API hsa_signal_or_scacq_screl(hsa_signal_t signal, hsa_signal_value_t value);

/** Older name of hsa_signal_or_scacq_screl. */
void HSA_API HSA_DEPRECATED hsa_signal_or_acq_rel(hsa_signal_t signal, hsa_signal_value_t value);

/** Combines the value of a signal by bitwise or (acquire order). */
void HSA_API hsa_signal_or_scacquire(hsa_signal_t signal, hsa_signal_value_t value);

/** Older name of hsa_signal_or_scacquire. */
void HSA_API HSA_DEPRECATED hsa_signal_or_acquire(hsa_signal_t signal, hsa_signal_value_t value);

/** Combines the value of a signal by bitwise or (relaxed order). */
void HSA_API hsa_signal_or_relaxed(hsa_signal_t signal, hsa_signal_value_t value);

/** Combines the value of a signal by bitwise or (release order). */
void HSA_API hsa_signal_or_screlease(hsa_signal_t signal, hsa_signal_value_t value);

/** Older name of hsa_signal_or_screlease. */
void HSA_API HSA_DEPRECATED hsa_signal_or_release(hsa_signal_t signal, hsa_signal_value_t value);

/** Combines the value of a signal by bitwise exclusive or (acquire-release order). */
void HSA_API hsa_signal_xor_scacq_screl(hsa_signal_t signal, hsa_signal_value_t value);

/** Older name of hsa_signal_xor_scacq_screl. */
void HSA_API HSA_DEPRECATED hsa_signal_xor_acq_rel(hsa_signal_t signal, hsa_signal_value_t value);

/** Combines the value of a signal by bitwise exclusive or (acquire order). */
void HSA_API hsa_signal_xor_scacquire(hsa_signal_t signal, hsa_signal_value_t value);

/** Older name of hsa_signal_xor_scacquire. */
void HSA_API HSA_DEPRECATED hsa_signal_xor_acquire(hsa_signal_t signal, hsa_signal_value_t value);

/** Combines the value of a signal by bitwise exclusive or (relaxed order). */
void HSA_API hsa_signal_xor_relaxed(hsa_signal_t signal, hsa_signal_value_t value);

/** Combines the value of a signal by bitwise exclusive or (release order). */
void HSA_API hsa_signal_xor_screlease(hsa_signal_t signal, hsa_signal_value_t value);

/** Older name of hsa_signal_xor_screlease. */
void HSA_API HSA_DEPRECATED hsa_signal_xor_release(hsa_signal_t signal, hsa_signal_value_t value);

/** How the value of a signal is compared in a wait. */
typedef enum {
  HSA_SIGNAL_CONDITION_EQ = 0, /**< Equal. */
  HSA_SIGNAL_CONDITION_NE = 1, /**< Not equal. */
  HSA_SIGNAL_CONDITION_LT = 2, /**< Less than. */
  HSA_SIGNAL_CONDITION_GTE = 3 /**< Greater than or equal. */
} hsa_signal_condition_t;

/** What a waiting thread should rather do. */
typedef enum {
  HSA_WAIT_STATE_BLOCKED = 0, /**< Sleep: the wait may be long. */
  HSA_WAIT_STATE_ACTIVE = 1 /**< Spin: the wait is short. */
} hsa_wait_state_t;

/** Waits until the value of a signal meets a condition or the time is up, and gives the value seen
 *  (acquire order). */
hsa_signal_value_t HSA_API hsa_signal_wait_scacquire(
    hsa_signal_t signal, hsa_signal_condition_t condition, hsa_signal_value_t compare_value,
    uint64_t timeout_hint, hsa_wait_state_t wait_state_hint);

/** Older name of hsa_signal_wait_scacquire. */
hsa_signal_value_t HSA_API HSA_DEPRECATED hsa_signal_wait_acquire(
    hsa_signal_t signal, hsa_signal_condition_t condition, hsa_signal_value_t compare_value,
    uint64_t timeout_hint, hsa_wait_state_t wait_state_hint);

/** Waits until the value of a signal meets a condition or the time is up, and gives the value seen
 *  (relaxed order). */
hsa_signal_value_t HSA_API hsa_signal_wait_relaxed(
    hsa_signal_t signal, hsa_signal_condition_t condition, hsa_signal_value_t compare_value,
    uint64_t timeout_hint, hsa_wait_state_t wait_state_hint);

/** Names a group of signals. */
typedef struct hsa_signal_group_s {
  uint64_t handle; /**< The handle itself. */
} hsa_signal_group_t;

/** Groups signals so that one call can wait for any of them. */
hsa_status_t HSA_API hsa_signal_group_create(
    uint32_t num_signals, const hsa_signal_t *signals, uint32_t num_consumers,
    const hsa_agent_t *consumers, hsa_signal_group_t *signal_group);

/** Destroys a signal group, not its signals. */
hsa_status_t HSA_API hsa_signal_group_destroy(hsa_signal_group_t signal_group);

/** Waits until one signal of a group meets its condition (acquire order). */
hsa_status_t HSA_API hsa_signal_group_wait_any_scacquire(
    hsa_signal_group_t signal_group, const hsa_signal_condition_t *conditions,
    const hsa_signal_value_t *compare_values, hsa_wait_state_t wait_state_hint,
    hsa_signal_t *signal, hsa_signal_value_t *value);

/** Waits until one signal of a group meets its condition (relaxed order). */
hsa_status_t HSA_API hsa_signal_group_wait_any_relaxed(
    hsa_signal_group_t signal_group, const hsa_signal_condition_t *conditions,
    const hsa_signal_value_t *compare_values, hsa_wait_state_t wait_state_hint,
    hsa_signal_t *signal, hsa_signal_value_t *value);

/* ---- Queues ---- */

/* Names a memory region; described below. */
typedef struct hsa_region_s {
  uint64_t handle; /**< The handle itself. */
} hsa_region_t;

/** Who may submit to a queue. */
typedef enum {
  HSA_QUEUE_TYPE_MULTI = 0, /**< Any number of threads and agents. */
  HSA_QUEUE_TYPE_SINGLE = 1, /**< One submitter at a time. */
  HSA_QUEUE_TYPE_COOPERATIVE = 2 /**< Work-groups of a dispatch may synchronise with each other. */
} hsa_queue_type_t;

/** hsa_queue_type_t in 32 bits. */
typedef uint32_t hsa_queue_type32_t;

/** Packets a queue takes; a set of bits. */
typedef enum {
  HSA_QUEUE_FEATURE_KERNEL_DISPATCH = 1, /**< Kernel dispatch packets. */
  HSA_QUEUE_FEATURE_AGENT_DISPATCH = 2 /**< Agent dispatch packets. */
} hsa_queue_feature_t;

/* The part of a queue that programs may read. Never write to it. */
typedef struct hsa_queue_s {
  hsa_queue_type32_t type; /**< Who may submit: hsa_queue_type_t. */
  uint32_t features; /**< Packets it takes: hsa_queue_feature_t bits. */
#ifdef HSA_LARGE_MODEL
  void *base_address; /**< First packet of the ring, 64-byte aligned. */
#elif defined HSA_LITTLE_ENDIAN
  void *base_address; /**< First packet of the ring, 64-byte aligned. */
  uint32_t reserved0; /**< Zero. */
#else
  uint32_t reserved0; /**< Zero. */
  void *base_address; /**< First packet of the ring, 64-byte aligned. */
#endif
  hsa_signal_t doorbell_signal; /**< Signal that announces packets: store the index of the last one. */
  uint32_t size; /**< Packets of the ring, a power of two. */
  uint32_t reserved1; /**< Zero. */
  uint64_t id; /**< Number of the queue, unique in its process. */
} hsa_queue_t;

/** Creates a queue that an agent serves. */
hsa_status_t HSA_API hsa_queue_create(
    hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
    void (*callback)(hsa_status_t status, hsa_queue_t *source, void *data), void *data,
    uint32_t private_segment_size, uint32_t group_segment_size, hsa_queue_t **queue);

/** Creates a queue that the program itself serves. */
hsa_status_t HSA_API hsa_soft_queue_create(
    hsa_region_t region, uint32_t size, hsa_queue_type32_t type, uint32_t features,
    hsa_signal_t doorbell_signal, hsa_queue_t **queue);

/** Destroys a queue; packets not yet processed are lost. */
hsa_status_t HSA_API hsa_queue_destroy(hsa_queue_t *queue);

/** Stops a queue: it takes no more packets. */
hsa_status_t HSA_API hsa_queue_inactivate(hsa_queue_t *queue);

/** Reads the read index of a queue (acquire order). */
uint64_t HSA_API hsa_queue_load_read_index_scacquire(const hsa_queue_t *queue);

/** Older name of hsa_queue_load_read_index_scacquire. */
uint64_t HSA_API HSA_DEPRECATED hsa_queue_load_read_index_acquire(const hsa_queue_t *queue);

/** Reads the read index of a queue (relaxed order). */
uint64_t HSA_API hsa_queue_load_read_index_relaxed(const hsa_queue_t *queue);

/** Reads the write index of a queue (acquire order). */
uint64_t HSA_API hsa_queue_load_write_index_scacquire(const hsa_queue_t *queue);

/** Older name of hsa_queue_load_write_index_scacquire. */
uint64_t HSA_API HSA_DEPRECATED hsa_queue_load_write_index_acquire(const hsa_queue_t *queue);

/** Reads the write index of a queue (relaxed order). */
uint64_t HSA_API hsa_queue_load_write_index_relaxed(const hsa_queue_t *queue);

/** Writes the write index of a queue (relaxed order). */
void HSA_API hsa_queue_store_write_index_relaxed(const hsa_queue_t *queue, uint64_t value);

/** Writes the write index of a queue (release order). */
void HSA_API hsa_queue_store_write_index_screlease(const hsa_queue_t *queue, uint64_t value);

/** Older name of hsa_queue_store_write_index_screlease. */
void HSA_API HSA_DEPRECATED hsa_queue_store_write_index_release(
    const hsa_queue_t *queue, uint64_t value);

/** Replaces the write index of a queue when it is the expected one, and gives the old one (acquire-
 *  release order). */
uint64_t HSA_API hsa_queue_cas_write_index_scacq_screl(
    const hsa_queue_t *queue, uint64_t expected, uint64_t value);

/** Older name of hsa_queue_cas_write_index_scacq_screl. */
uint64_t HSA_API HSA_DEPRECATED hsa_queue_cas_write_index_acq_rel(
    const hsa_queue_t *queue, uint64_t expected, uint64_t value);

/** Replaces the write index of a queue when it is the expected one, and gives the old one (acquire
 *  order). */
uint64_t HSA_API hsa_queue_cas_write_index_scacquire(
    const hsa_queue_t *queue, uint64_t expected, uint64_t value);

/** Older name of hsa_queue_cas_write_index_scacquire. */
uint64_t HSA_API HSA_DEPRECATED hsa_queue_cas_write_index_acquire(
    const hsa_queue_t *queue, uint64_t expected, uint64_t value);

/** Replaces the write index of a queue when it is the expected one, and gives the old one (relaxed
 *  order). */
uint64_t HSA_API hsa_queue_cas_write_index_relaxed(
    const hsa_queue_t *queue, uint64_t expected, uint64_t value);

/** Replaces the write index of a queue when it is the expected one, and gives the old one (release
 *  order). */
uint64_t HSA_API hsa_queue_cas_write_index_screlease(
    const hsa_queue_t *queue, uint64_t expected, uint64_t value);

/** Older name of hsa_queue_cas_write_index_screlease. */
uint64_t HSA_API HSA_DEPRECATED hsa_queue_cas_write_index_release(
    const hsa_queue_t *queue, uint64_t expected, uint64_t value);

/** Adds to the write index of a queue and gives the old one (acquire-release order). */
uint64_t HSA_API hsa_queue_add_write_index_scacq_screl(const hsa_queue_t *queue, uint64_t value);

/** Older name of hsa_queue_add_write_index_scacq_screl. */
uint64_t HSA_API HSA_DEPRECATED hsa_queue_add_write_index_acq_rel(
    const hsa_queue_t *queue, uint64_t value);

/** Adds to the write index of a queue and gives the old one (acquire order). */
uint64_t HSA_API hsa_queue_add_write_index_scacquire(const hsa_queue_t *queue, uint64_t value);

/** Older name of hsa_queue_add_write_index_scacquire. */
uint64_t HSA_API HSA_DEPRECATED hsa_queue_add_write_index_acquire(
    const hsa_queue_t *queue, uint64_t value);

/** Adds to the write index of a queue and gives the old one (relaxed order). */
uint64_t HSA_API hsa_queue_add_write_index_relaxed(const hsa_queue_t *queue, uint64_t value);

/** Adds to the write index of a queue and gives the old one (release order). */
uint64_t HSA_API hsa_queue_add_write_index_screlease(const hsa_queue_t *queue, uint64_t value);

/** Older name of hsa_queue_add_write_index_screlease. */
uint64_t HSA_API HSA_DEPRECATED hsa_queue_add_write_index_release(
    const hsa_queue_t *queue, uint64_t value);

/** Writes the read index of a queue that the program serves (relaxed order). */
void HSA_API hsa_queue_store_read_index_relaxed(const hsa_queue_t *queue, uint64_t value);

/** Writes the read index of a queue that the program serves (release order). */
void HSA_API hsa_queue_store_read_index_screlease(const hsa_queue_t *queue, uint64_t value);

/** Older name of hsa_queue_store_read_index_screlease. */
void HSA_API HSA_DEPRECATED hsa_queue_store_read_index_release(
    const hsa_queue_t *queue, uint64_t value);

/* ---- Packets ---- */

/** Type of a packet: the low byte of its header. */
typedef enum {
  HSA_PACKET_TYPE_VENDOR_SPECIFIC = 0, /**< The rest is described by the vendor. */
  HSA_PACKET_TYPE_INVALID = 1, /**< The slot is free or being filled; the packet processor waits. */
  HSA_PACKET_TYPE_KERNEL_DISPATCH = 2, /**< Run a kernel. */
  HSA_PACKET_TYPE_BARRIER_AND = 3, /**< Wait until all signals named are 0. */
  HSA_PACKET_TYPE_AGENT_DISPATCH = 4, /**< Call a service of an agent. */
  HSA_PACKET_TYPE_BARRIER_OR = 5 /**< Wait until one of the signals named is 0. */
} hsa_packet_type_t;

/** How far a fence reaches. */
typedef enum {
  HSA_FENCE_SCOPE_NONE = 0, /**< No fence. */
  HSA_FENCE_SCOPE_AGENT = 1, /**< The agent. */
  HSA_FENCE_SCOPE_SYSTEM = 2 /**< Every agent of the system. */
} hsa_fence_scope_t;

/** First bit of each field of a packet header. */
typedef enum {
  HSA_PACKET_HEADER_TYPE = 0, /**< Packet type. */
  HSA_PACKET_HEADER_BARRIER = 8, /**< Start only after all earlier packets have ended. */
  HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE = 9, /**< Acquire fence before the work. */
  HSA_PACKET_HEADER_ACQUIRE_FENCE_SCOPE = 9, /**< Older name of the acquire field. */
  HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE = 11, /**< Release fence after the work. */
  HSA_PACKET_HEADER_RELEASE_FENCE_SCOPE = 11 /**< Older name of the release field. */
} hsa_packet_header_t;

/** Bits of each field of a packet header. */
typedef enum {
  HSA_PACKET_HEADER_WIDTH_TYPE = 8, /**< Packet type. */
  HSA_PACKET_HEADER_WIDTH_BARRIER = 1, /**< Barrier bit. */
  HSA_PACKET_HEADER_WIDTH_SCACQUIRE_FENCE_SCOPE = 2, /**< Acquire fence. */
  HSA_PACKET_HEADER_WIDTH_ACQUIRE_FENCE_SCOPE = 2, /**< Older name of the acquire field. */
  HSA_PACKET_HEADER_WIDTH_SCRELEASE_FENCE_SCOPE = 2, /**< Release fence. */
  HSA_PACKET_HEADER_WIDTH_RELEASE_FENCE_SCOPE = 2 /**< Older name of the release field. */
} hsa_packet_header_width_t;

/** First bit of each field of the setup word. */
typedef enum {
  HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS = 0 /**< Number of grid dimensions, 1 to 3. */
} hsa_kernel_dispatch_packet_setup_t;

/** Bits of each field of the setup word. */
typedef enum {
  HSA_KERNEL_DISPATCH_PACKET_SETUP_WIDTH_DIMENSIONS = 2 /**< Number of grid dimensions. */
} hsa_kernel_dispatch_packet_setup_width_t;

/** Runs a kernel over a grid. */
typedef struct hsa_kernel_dispatch_packet_s {
  uint16_t header; /**< Type, barrier and fences. */
  uint16_t setup; /**< Number of dimensions. */
  uint16_t workgroup_size_x; /**< Work-group extent along X. */
  uint16_t workgroup_size_y; /**< Work-group extent along Y. */
  uint16_t workgroup_size_z; /**< Work-group extent along Z. */
  uint16_t reserved0; /**< Zero. */
  uint32_t grid_size_x; /**< Grid extent along X, in work-items. */
  uint32_t grid_size_y; /**< Grid extent along Y, in work-items. */
  uint32_t grid_size_z; /**< Grid extent along Z, in work-items. */
  uint32_t private_segment_size; /**< Private bytes of a work-item. */
  uint32_t group_segment_size; /**< Group bytes of a work-group. */
  uint64_t kernel_object; /**< The kernel: HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT of its symbol. */
#ifdef HSA_LARGE_MODEL
  void *kernarg_address; /**< Kernel arguments; may be NULL. */
#elif defined HSA_LITTLE_ENDIAN
  void *kernarg_address; /**< Kernel arguments; may be NULL. */
  uint32_t reserved1; /**< Zero. */
#else
  uint32_t reserved1; /**< Zero. */
  void *kernarg_address; /**< Kernel arguments; may be NULL. */
#endif
  uint64_t reserved2; /**< Zero. */
  hsa_signal_t completion_signal; /**< Decremented when the kernel has ended; 0 for none. */
} hsa_kernel_dispatch_packet_t;

/** Calls a service of the agent that serves the queue. */
typedef struct hsa_agent_dispatch_packet_s {
  uint16_t header; /**< Type, barrier and fences. */
  uint16_t type; /**< Number of the service. */
  uint32_t reserved0; /**< Zero. */
#ifdef HSA_LARGE_MODEL
  void *return_address; /**< Where results go; may be NULL. */
#elif defined HSA_LITTLE_ENDIAN
  void *return_address; /**< Where results go; may be NULL. */
  uint32_t reserved1; /**< Zero. */
#else
  uint32_t reserved1; /**< Zero. */
  void *return_address; /**< Where results go; may be NULL. */
#endif
  uint64_t arg[4]; /**< Arguments. */
  uint64_t reserved2; /**< Zero. */
  hsa_signal_t completion_signal; /**< Decremented at the end; 0 for none. */
} hsa_agent_dispatch_packet_t;

/** Holds the queue until every signal named has become 0. */
typedef struct hsa_barrier_and_packet_s {
  uint16_t header; /**< Type, barrier and fences. */
  uint16_t reserved0; /**< Zero. */
  uint32_t reserved1; /**< Zero. */
  hsa_signal_t dep_signal[5]; /**< Signals to look at; 0 entries are skipped. */
  uint64_t reserved2; /**< Zero. */
  hsa_signal_t completion_signal; /**< Decremented at the end; 0 for none. */
} hsa_barrier_and_packet_t;

/** Holds the queue until one signal named has become 0. */
typedef struct hsa_barrier_or_packet_s {
  uint16_t header; /**< Type, barrier and fences. */
  uint16_t reserved0; /**< Zero. */
  uint32_t reserved1; /**< Zero. */
  hsa_signal_t dep_signal[5]; /**< Signals to look at; 0 entries are skipped. */
  uint64_t reserved2; /**< Zero. */
  hsa_signal_t completion_signal; /**< Decremented at the end; 0 for none. */
} hsa_barrier_or_packet_t;

/* ---- Memory regions ---- */

/** Segment a region is used for. */
typedef enum {
  HSA_REGION_SEGMENT_GLOBAL = 0, /**< Global: shared by all agents. */
  HSA_REGION_SEGMENT_READONLY = 1, /**< Read-only: does not change while a kernel runs. */
  HSA_REGION_SEGMENT_PRIVATE = 2, /**< Private to a work-item. */
  HSA_REGION_SEGMENT_GROUP = 3, /**< Shared by a work-group. */
  HSA_REGION_SEGMENT_KERNARG = 4 /**< Kernel arguments. */
} hsa_region_segment_t;

/** Flags of a global region; a set of bits. */
typedef enum {
  HSA_REGION_GLOBAL_FLAG_KERNARG = 1, /**< Kernel arguments may live here. */
  HSA_REGION_GLOBAL_FLAG_FINE_GRAINED = 2, /**< Writes become visible while kernels run. */
  HSA_REGION_GLOBAL_FLAG_COARSE_GRAINED = 4, /**< One agent owns an allocation at a time. */
  HSA_REGION_GLOBAL_FLAG_EXTENDED_SCOPE_FINE_GRAINED = 8 /**< Device scope atomics act at system scope. */
} hsa_region_global_flag_t;

/** What hsa_region_get_info can be asked. */
typedef enum {
  HSA_REGION_INFO_SEGMENT = 0, /**< hsa_region_segment_t: its segment. */
  HSA_REGION_INFO_GLOBAL_FLAGS = 1, /**< uint32_t: hsa_region_global_flag_t bits. */
  HSA_REGION_INFO_SIZE = 2, /**< size_t: bytes. */
  HSA_REGION_INFO_ALLOC_MAX_SIZE = 4, /**< size_t: largest allocation. */
  HSA_REGION_INFO_ALLOC_MAX_PRIVATE_WORKGROUP_SIZE = 8, /**< uint32_t: most private bytes of a work-group. */
  HSA_REGION_INFO_RUNTIME_ALLOC_ALLOWED = 5, /**< bool: whether hsa_memory_allocate takes it. */
  HSA_REGION_INFO_RUNTIME_ALLOC_GRANULE = 6, /**< size_t: sizes are rounded up to a multiple of this. */
  HSA_REGION_INFO_RUNTIME_ALLOC_ALIGNMENT = 7 /**< size_t: alignment of an allocation. */
} hsa_region_info_t;

/** Reads one property of a region. */
hsa_status_t HSA_API hsa_region_get_info(
    hsa_region_t region, hsa_region_info_t attribute, void *value);

/** Calls back for every region of an agent. */
hsa_status_t HSA_API hsa_agent_iterate_regions(
    hsa_agent_t agent, hsa_status_t (*callback)(hsa_region_t region, void *data), void *data);

/** Allocates memory in a region. */
hsa_status_t HSA_API hsa_memory_allocate(hsa_region_t region, size_t size, void **ptr);

/** Frees memory that hsa_memory_allocate gave. */
hsa_status_t HSA_API hsa_memory_free(void *ptr);

/** Copies memory and waits until it is done. */
hsa_status_t HSA_API hsa_memory_copy(void *dst, const void *src, size_t size);

/** Gives a coarse-grained allocation to another agent. */
hsa_status_t HSA_API hsa_memory_assign_agent(
    void *ptr, hsa_agent_t agent, hsa_access_permission_t access);

/** Announces that agents will use memory of the program. */
hsa_status_t HSA_API hsa_memory_register(void *ptr, size_t size);

/** Takes back hsa_memory_register. */
hsa_status_t HSA_API hsa_memory_deregister(void *ptr, size_t size);

/* ---- Instruction sets ---- */

/** Names an instruction set. */
typedef struct hsa_isa_s {
  uint64_t handle; /**< The handle itself. */
} hsa_isa_t;

/** Finds an instruction set by its name. */
hsa_status_t HSA_API hsa_isa_from_name(const char *name, hsa_isa_t *isa);

/** Calls back for every instruction set of an agent, the best first. */
hsa_status_t HSA_API hsa_agent_iterate_isas(
    hsa_agent_t agent, hsa_status_t (*callback)(hsa_isa_t isa, void *data), void *data);

/** What hsa_isa_get_info_alt can be asked. */
typedef enum {
  HSA_ISA_INFO_NAME_LENGTH = 0, /**< uint32_t: length of the name with its terminator. */
  HSA_ISA_INFO_NAME = 1, /**< char[]: name. */
  HSA_ISA_INFO_CALL_CONVENTION_COUNT = 2, /**< uint32_t: number of call conventions. */
  /** uint32_t: lanes of a wavefront in one call convention. */
  HSA_ISA_INFO_CALL_CONVENTION_INFO_WAVEFRONT_SIZE = 3,
  /** uint32_t: wavefronts of a compute unit in one call convention. */
  HSA_ISA_INFO_CALL_CONVENTION_INFO_WAVEFRONTS_PER_COMPUTE_UNIT = 4,
  HSA_ISA_INFO_MACHINE_MODELS = 5, /**< bool[2]: whether each hsa_machine_model_t is offered. */
  HSA_ISA_INFO_PROFILES = 6, /**< bool[2]: whether each hsa_profile_t is offered. */
  /** bool[3]: whether each hsa_default_float_rounding_mode_t is offered. */
  HSA_ISA_INFO_DEFAULT_FLOAT_ROUNDING_MODES = 7,
  HSA_ISA_INFO_BASE_PROFILE_DEFAULT_FLOAT_ROUNDING_MODES = 8, /**< bool[3]: the same in the base profile. */
  HSA_ISA_INFO_FAST_F16_OPERATION = 9, /**< bool: whether half precision is at least as fast as single. */
  HSA_ISA_INFO_WORKGROUP_MAX_DIM = 12, /**< uint16_t[3]: largest work-group in each dimension. */
  HSA_ISA_INFO_WORKGROUP_MAX_SIZE = 13, /**< uint32_t: most work-items of a work-group. */
  HSA_ISA_INFO_GRID_MAX_DIM = 14, /**< hsa_dim3_t: largest grid in each dimension. */
  HSA_ISA_INFO_GRID_MAX_SIZE = 16, /**< uint64_t: most work-items of a grid. */
  HSA_ISA_INFO_FBARRIER_MAX_SIZE = 17 /**< uint32_t: most fbarriers of a work-group. */
} hsa_isa_info_t;

/** Reads one property of an instruction set in one call convention. */
hsa_status_t HSA_API HSA_DEPRECATED hsa_isa_get_info(
    hsa_isa_t isa, hsa_isa_info_t attribute, uint32_t index, void *value);

/** Reads one property of an instruction set. */
hsa_status_t HSA_API hsa_isa_get_info_alt(hsa_isa_t isa, hsa_isa_info_t attribute, void *value);

/** Gives the exception policies of an instruction set. */
hsa_status_t HSA_API hsa_isa_get_exception_policies(
    hsa_isa_t isa, hsa_profile_t profile, uint16_t *mask);

/** Floating point formats; a set of bits. */
typedef enum {
  HSA_FP_TYPE_16 = 1, /**< Half precision. */
  HSA_FP_TYPE_32 = 2, /**< Single precision. */
  HSA_FP_TYPE_64 = 4 /**< Double precision. */
} hsa_fp_type_t;

/** What happens to denormal values; a set of bits. */
typedef enum {
  HSA_FLUSH_MODE_FTZ = 1, /**< They become zero. */
  HSA_FLUSH_MODE_NON_FTZ = 2 /**< They are kept. */
} hsa_flush_mode_t;

/** How a fused operation rounds; a set of bits. */
typedef enum {
  HSA_ROUND_METHOD_SINGLE = 1, /**< Once. */
  HSA_ROUND_METHOD_DOUBLE = 2 /**< After each step. */
} hsa_round_method_t;

/** Tells how the multiply-add of an instruction set rounds. */
hsa_status_t HSA_API hsa_isa_get_round_method(
    hsa_isa_t isa, hsa_fp_type_t fp_type, hsa_flush_mode_t flush_mode,
    hsa_round_method_t *round_method);

/** Names a wavefront of an instruction set. */
typedef struct hsa_wavefront_s {
  uint64_t handle; /**< The handle itself. */
} hsa_wavefront_t;

/** What hsa_wavefront_get_info can be asked. */
typedef enum {
  HSA_WAVEFRONT_INFO_SIZE = 0 /**< uint32_t: lanes. */
} hsa_wavefront_info_t;

/** Reads one property of a wavefront. */
hsa_status_t HSA_API hsa_wavefront_get_info(
    hsa_wavefront_t wavefront, hsa_wavefront_info_t attribute, void *value);

/** Calls back for every wavefront of an instruction set. */
hsa_status_t HSA_API hsa_isa_iterate_wavefronts(
    hsa_isa_t isa, hsa_status_t (*callback)(hsa_wavefront_t wavefront, void *data), void *data);

/** Tells whether code for one instruction set runs on another. */
hsa_status_t HSA_API HSA_DEPRECATED hsa_isa_compatible(
    hsa_isa_t code_object_isa, hsa_isa_t agent_isa, bool *result);

/* ---- Executables ---- */

/** Names a reader: where a code object comes from. */
typedef struct hsa_code_object_reader_s {
  uint64_t handle; /**< The handle itself. */
} hsa_code_object_reader_t;

/** Makes a reader of a whole file; the descriptor may be closed afterwards. */
hsa_status_t HSA_API hsa_code_object_reader_create_from_file(
    hsa_file_t file, hsa_code_object_reader_t *code_object_reader);

/** Makes a reader of memory, which must outlive it. */
hsa_status_t HSA_API hsa_code_object_reader_create_from_memory(
    const void *code_object, size_t size, hsa_code_object_reader_t *code_object_reader);

/** Destroys a reader. */
hsa_status_t HSA_API hsa_code_object_reader_destroy(hsa_code_object_reader_t code_object_reader);

/** Names an executable: loaded code objects that refer to each other. */
typedef struct hsa_executable_s {
  uint64_t handle; /**< The handle itself. */
} hsa_executable_t;

/** State of an executable. */
typedef enum {
  HSA_EXECUTABLE_STATE_UNFROZEN = 0, /**< Code can be loaded and variables defined. */
  HSA_EXECUTABLE_STATE_FROZEN = 1 /**< Complete: kernels can run. */
} hsa_executable_state_t;

/** Creates an executable in a given state. */
hsa_status_t HSA_API HSA_DEPRECATED hsa_executable_create(
    hsa_profile_t profile, hsa_executable_state_t executable_state, const char *options,
    hsa_executable_t *executable);

/** Creates an empty executable. */
hsa_status_t HSA_API hsa_executable_create_alt(
    hsa_profile_t profile, hsa_default_float_rounding_mode_t default_float_rounding_mode,
    const char *options, hsa_executable_t *executable);

/** Destroys an executable and everything loaded in it. */
hsa_status_t HSA_API hsa_executable_destroy(hsa_executable_t executable);

/** Names a code object loaded in an executable. */
typedef struct hsa_loaded_code_object_s {
  uint64_t handle; /**< The handle itself. */
} hsa_loaded_code_object_t;

/** Loads a code object that belongs to no agent. */
hsa_status_t HSA_API hsa_executable_load_program_code_object(
    hsa_executable_t executable, hsa_code_object_reader_t code_object_reader, const char *options,
    hsa_loaded_code_object_t *loaded_code_object);

/** Loads a code object for an agent. */
hsa_status_t HSA_API hsa_executable_load_agent_code_object(
    hsa_executable_t executable, hsa_agent_t agent, hsa_code_object_reader_t code_object_reader,
    const char *options, hsa_loaded_code_object_t *loaded_code_object);

/** Completes an executable: nothing can be added, kernels can run. */
hsa_status_t HSA_API hsa_executable_freeze(hsa_executable_t executable, const char *options);

/** What hsa_executable_get_info can be asked. */
typedef enum {
  HSA_EXECUTABLE_INFO_PROFILE = 1, /**< hsa_profile_t: its profile. */
  HSA_EXECUTABLE_INFO_STATE = 2, /**< hsa_executable_state_t: its state. */
  /** hsa_default_float_rounding_mode_t: its default rounding. */
  HSA_EXECUTABLE_INFO_DEFAULT_FLOAT_ROUNDING_MODE = 3
} hsa_executable_info_t;

/** Reads one property of an executable. */
hsa_status_t HSA_API hsa_executable_get_info(
    hsa_executable_t executable, hsa_executable_info_t attribute, void *value);

/** Says where a global variable of the whole program lives. */
hsa_status_t HSA_API hsa_executable_global_variable_define(
    hsa_executable_t executable, const char *variable_name, void *address);

/** Says where a global variable of one agent lives. */
hsa_status_t HSA_API hsa_executable_agent_global_variable_define(
    hsa_executable_t executable, hsa_agent_t agent, const char *variable_name, void *address);

/** Says where a read-only variable of one agent lives. */
hsa_status_t HSA_API hsa_executable_readonly_variable_define(
    hsa_executable_t executable, hsa_agent_t agent, const char *variable_name, void *address);

/** Checks an executable; the result is 0 when it is valid. */
hsa_status_t HSA_API hsa_executable_validate(hsa_executable_t executable, uint32_t *result);

/** Checks an executable under options; the result is 0 when it is valid. */
hsa_status_t HSA_API hsa_executable_validate_alt(
    hsa_executable_t executable, const char *options, uint32_t *result);

/** Names a symbol of an executable. */
typedef struct hsa_executable_symbol_s {
  uint64_t handle; /**< The handle itself. */
} hsa_executable_symbol_t;

/** Finds a symbol by module and name. */
hsa_status_t HSA_API HSA_DEPRECATED hsa_executable_get_symbol(
    hsa_executable_t executable, const char *module_name, const char *symbol_name,
    hsa_agent_t agent, int32_t call_convention, hsa_executable_symbol_t *symbol);

/** Finds a symbol by its linker name; NULL as agent means one of the program. */
hsa_status_t HSA_API hsa_executable_get_symbol_by_name(
    hsa_executable_t executable, const char *symbol_name, const hsa_agent_t *agent,
    hsa_executable_symbol_t *symbol);

/** What a symbol stands for. */
typedef enum {
  HSA_SYMBOL_KIND_VARIABLE = 0, /**< A variable. */
  HSA_SYMBOL_KIND_KERNEL = 1, /**< A kernel. */
  HSA_SYMBOL_KIND_INDIRECT_FUNCTION = 2 /**< An indirect function. */
} hsa_symbol_kind_t;

/** Where a symbol can be seen. */
typedef enum {
  HSA_SYMBOL_LINKAGE_MODULE = 0, /**< In its module. */
  HSA_SYMBOL_LINKAGE_PROGRAM = 1 /**< In the program. */
} hsa_symbol_linkage_t;

/** How often a variable exists. */
typedef enum {
  HSA_VARIABLE_ALLOCATION_AGENT = 0, /**< Once for each agent. */
  HSA_VARIABLE_ALLOCATION_PROGRAM = 1 /**< Once. */
} hsa_variable_allocation_t;

/** Segment of a variable. */
typedef enum {
  HSA_VARIABLE_SEGMENT_GLOBAL = 0, /**< Global. */
  HSA_VARIABLE_SEGMENT_READONLY = 1 /**< Read-only. */
} hsa_variable_segment_t;

/** What hsa_executable_symbol_get_info can be asked. */
typedef enum {
  HSA_EXECUTABLE_SYMBOL_INFO_TYPE = 0, /**< hsa_symbol_kind_t: what it stands for. */
  HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH = 1, /**< uint32_t: length of the name without terminator. */
  HSA_EXECUTABLE_SYMBOL_INFO_NAME = 2, /**< char[]: name, not terminated. */
  /** uint32_t: length of the module name without terminator. */
  HSA_EXECUTABLE_SYMBOL_INFO_MODULE_NAME_LENGTH = 3,
  HSA_EXECUTABLE_SYMBOL_INFO_MODULE_NAME = 4, /**< char[]: module name, not terminated. */
  HSA_EXECUTABLE_SYMBOL_INFO_AGENT = 20, /**< hsa_agent_t: agent it belongs to. */
  HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS = 21, /**< uint64_t: address of the variable. */
  HSA_EXECUTABLE_SYMBOL_INFO_LINKAGE = 5, /**< hsa_symbol_linkage_t: where it can be seen. */
  HSA_EXECUTABLE_SYMBOL_INFO_IS_DEFINITION = 17, /**< bool: whether it is a definition, not a declaration. */
  /** hsa_variable_allocation_t: how often the variable exists. */
  HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ALLOCATION = 6,
  HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SEGMENT = 7, /**< hsa_variable_segment_t: segment of the variable. */
  HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ALIGNMENT = 8, /**< uint32_t: alignment of the variable. */
  HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SIZE = 9, /**< uint32_t: bytes of the variable; 0 when unknown. */
  HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_IS_CONST = 10, /**< bool: whether the variable is constant. */
  HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT = 22, /**< uint64_t: what goes into a dispatch packet. */
  /** uint32_t: bytes of the kernel arguments. */
  HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE = 11,
  /** uint32_t: alignment of the kernel arguments. */
  HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_ALIGNMENT = 12,
  HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE = 13, /**< uint32_t: static group bytes. */
  /** uint32_t: static private bytes of a work-item. */
  HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE = 14,
  /** bool: whether the private bytes may grow by calls. */
  HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_DYNAMIC_CALLSTACK = 15,
  HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_CALL_CONVENTION = 18, /**< uint32_t: call convention. */
  HSA_EXECUTABLE_SYMBOL_INFO_INDIRECT_FUNCTION_OBJECT = 23, /**< uint64_t: the indirect function. */
  /** uint32_t: call convention of the indirect function. */
  HSA_EXECUTABLE_SYMBOL_INFO_INDIRECT_FUNCTION_CALL_CONVENTION = 16
} hsa_executable_symbol_info_t;

/** Reads one property of a symbol. */
hsa_status_t HSA_API hsa_executable_symbol_get_info(
    hsa_executable_symbol_t executable_symbol, hsa_executable_symbol_info_t attribute, void *value);

/** Calls back for every symbol of an executable. */
hsa_status_t HSA_API HSA_DEPRECATED hsa_executable_iterate_symbols(
    hsa_executable_t executable,
    hsa_status_t (*callback)(hsa_executable_t exec, hsa_executable_symbol_t symbol, void *data),
    void *data);

/** Calls back for every symbol of one agent. */
hsa_status_t HSA_API hsa_executable_iterate_agent_symbols(
    hsa_executable_t executable, hsa_agent_t agent,
    hsa_status_t (*callback)(hsa_executable_t exec, hsa_agent_t agent, hsa_executable_symbol_t symbol, void *data),
    void *data);

/** Calls back for every symbol of the program. */
hsa_status_t HSA_API hsa_executable_iterate_program_symbols(
    hsa_executable_t executable,
    hsa_status_t (*callback)(hsa_executable_t exec, hsa_executable_symbol_t symbol, void *data),
    void *data);

/* ---- Code objects (older interface) ---- */

/** Names a code object. */
typedef struct hsa_code_object_s {
  uint64_t handle; /**< The handle itself. */
} hsa_code_object_t;

/** Data of the program for an allocation callback. */
typedef struct hsa_callback_data_s {
  uint64_t handle; /**< The handle itself. */
} hsa_callback_data_t;

/** Writes a code object into memory that the callback allocates. */
hsa_status_t HSA_API HSA_DEPRECATED hsa_code_object_serialize(
    hsa_code_object_t code_object,
    hsa_status_t (*alloc_callback)(size_t size, hsa_callback_data_t data, void **address),
    hsa_callback_data_t callback_data, const char *options, void **serialized_code_object,
    size_t *serialized_code_object_size);

/** Makes a code object of serialized bytes. */
hsa_status_t HSA_API HSA_DEPRECATED hsa_code_object_deserialize(
    void *serialized_code_object, size_t serialized_code_object_size, const char *options,
    hsa_code_object_t *code_object);

/** Destroys a code object. */
hsa_status_t HSA_API HSA_DEPRECATED hsa_code_object_destroy(hsa_code_object_t code_object);

/** Kind of code object. */
typedef enum {
  HSA_CODE_OBJECT_TYPE_PROGRAM = 0 /**< Code of a whole program. */
} hsa_code_object_type_t;

/** What hsa_code_object_get_info can be asked. */
typedef enum {
  HSA_CODE_OBJECT_INFO_VERSION = 0, /**< char[64]: version text. */
  HSA_CODE_OBJECT_INFO_TYPE = 1, /**< hsa_code_object_type_t: its kind. */
  HSA_CODE_OBJECT_INFO_ISA = 2, /**< hsa_isa_t: its instruction set. */
  HSA_CODE_OBJECT_INFO_MACHINE_MODEL = 3, /**< hsa_machine_model_t: its address width. */
  HSA_CODE_OBJECT_INFO_PROFILE = 4, /**< hsa_profile_t: its profile. */
  /** hsa_default_float_rounding_mode_t: its default rounding. */
  HSA_CODE_OBJECT_INFO_DEFAULT_FLOAT_ROUNDING_MODE = 5
} hsa_code_object_info_t;

/** Reads one property of a code object. */
hsa_status_t HSA_API HSA_DEPRECATED hsa_code_object_get_info(
    hsa_code_object_t code_object, hsa_code_object_info_t attribute, void *value);

/** Loads a code object for an agent. */
hsa_status_t HSA_API HSA_DEPRECATED hsa_executable_load_code_object(
    hsa_executable_t executable, hsa_agent_t agent, hsa_code_object_t code_object,
    const char *options);

/** Names a symbol of a code object. */
typedef struct hsa_code_symbol_s {
  uint64_t handle; /**< The handle itself. */
} hsa_code_symbol_t;

/** Finds a symbol of a code object. */
hsa_status_t HSA_API HSA_DEPRECATED hsa_code_object_get_symbol(
    hsa_code_object_t code_object, const char *symbol_name, hsa_code_symbol_t *symbol);

/** Finds a symbol of a code object by module and name. */
hsa_status_t HSA_API HSA_DEPRECATED hsa_code_object_get_symbol_from_name(
    hsa_code_object_t code_object, const char *module_name, const char *symbol_name,
    hsa_code_symbol_t *symbol);

/** What hsa_code_symbol_get_info can be asked. */
typedef enum {
  HSA_CODE_SYMBOL_INFO_TYPE = 0, /**< hsa_symbol_kind_t: what it stands for. */
  HSA_CODE_SYMBOL_INFO_NAME_LENGTH = 1, /**< uint32_t: length of the name without terminator. */
  HSA_CODE_SYMBOL_INFO_NAME = 2, /**< char[]: name, not terminated. */
  HSA_CODE_SYMBOL_INFO_MODULE_NAME_LENGTH = 3, /**< uint32_t: length of the module name without terminator. */
  HSA_CODE_SYMBOL_INFO_MODULE_NAME = 4, /**< char[]: module name, not terminated. */
  HSA_CODE_SYMBOL_INFO_LINKAGE = 5, /**< hsa_symbol_linkage_t: where it can be seen. */
  HSA_CODE_SYMBOL_INFO_IS_DEFINITION = 17, /**< bool: whether it is a definition, not a declaration. */
  /** hsa_variable_allocation_t: how often the variable exists. */
  HSA_CODE_SYMBOL_INFO_VARIABLE_ALLOCATION = 6,
  HSA_CODE_SYMBOL_INFO_VARIABLE_SEGMENT = 7, /**< hsa_variable_segment_t: segment of the variable. */
  HSA_CODE_SYMBOL_INFO_VARIABLE_ALIGNMENT = 8, /**< uint32_t: alignment of the variable. */
  HSA_CODE_SYMBOL_INFO_VARIABLE_SIZE = 9, /**< uint32_t: bytes of the variable; 0 when unknown. */
  HSA_CODE_SYMBOL_INFO_VARIABLE_IS_CONST = 10, /**< bool: whether the variable is constant. */
  HSA_CODE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE = 11, /**< uint32_t: bytes of the kernel arguments. */
  /** uint32_t: alignment of the kernel arguments. */
  HSA_CODE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_ALIGNMENT = 12,
  HSA_CODE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE = 13, /**< uint32_t: static group bytes. */
  /** uint32_t: static private bytes of a work-item. */
  HSA_CODE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE = 14,
  /** bool: whether the private bytes may grow by calls. */
  HSA_CODE_SYMBOL_INFO_KERNEL_DYNAMIC_CALLSTACK = 15,
  HSA_CODE_SYMBOL_INFO_KERNEL_CALL_CONVENTION = 18, /**< uint32_t: call convention. */
  /** uint32_t: call convention of the indirect function. */
  HSA_CODE_SYMBOL_INFO_INDIRECT_FUNCTION_CALL_CONVENTION = 16,
  HSA_CODE_SYMBOL_INFO_KERNEL_WAVEFRONT_SIZE = 19 /**< uint32_t: lanes of a wavefront of the kernel. */
} hsa_code_symbol_info_t;

/** Reads one property of a symbol. */
hsa_status_t HSA_API HSA_DEPRECATED hsa_code_symbol_get_info(
    hsa_code_symbol_t code_symbol, hsa_code_symbol_info_t attribute, void *value);

/** Calls back for every symbol of a code object. */
hsa_status_t HSA_API HSA_DEPRECATED hsa_code_object_iterate_symbols(
    hsa_code_object_t code_object,
    hsa_status_t (*callback)(hsa_code_object_t code_object, hsa_code_symbol_t symbol, void *data),
    void *data);

#ifdef __cplusplus
}
#endif

#endif /* HSA_RUNTIME_INC_HSA_H_ */
