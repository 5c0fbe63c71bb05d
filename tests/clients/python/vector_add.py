#!/usr/bin/env python3
"""Lists the agents and adds two vectors on the first GPU, straight through the HSA interface: no package, no compiler.

Argument: a code object with the kernel vector_add(a, b, sum), such as tests/kernels/vector_add.cl makes.
"""
import ctypes as c
import struct
import sys

hsa = c.CDLL("libhsa-runtime64.so.1")
AGENTS = c.CFUNCTYPE(c.c_int, c.c_uint64, c.c_void_p)
U64, U32, U16 = c.c_uint64, c.c_uint32, c.c_uint16
hsa.hsa_signal_wait_scacquire.restype = c.c_int64
hsa.hsa_queue_add_write_index_relaxed.restype = U64


def ok(status):
    if status:
        text = c.c_char_p()
        hsa.hsa_status_string(status, c.byref(text))
        sys.exit(f"{status:#x}: {(text.value or b'?').decode()}")


def found(iterate, of):
    """The handles that a function iterates over."""
    handles = []
    callback = AGENTS(lambda handle, _: handles.append(handle) or 0)
    ok(iterate(callback, None) if of is None else iterate(U64(of), callback, None))
    return handles


def info(query, handle, attribute, kind):
    value = kind()
    ok(query(U64(handle), attribute, c.byref(value)))
    return value.value


# ---- the agents

ok(hsa.hsa_init())
agents = found(hsa.hsa_iterate_agents, None)
for agent in agents:
    kind = ["CPU", "GPU", "DSP", "AIE"][info(hsa.hsa_agent_get_info, agent, 17, U32)]
    print(kind, info(hsa.hsa_agent_get_info, agent, 0, c.c_char * 64).decode())
gpu = next(agent for agent in agents if info(hsa.hsa_agent_get_info, agent, 17, U32) == 1)

# ---- memory that the host and the GPU share: the fine-grained (2) and the kernel argument (1) region of the CPU

regions = found(hsa.hsa_agent_iterate_regions, agents[0])
flags = {region: info(hsa.hsa_region_get_info, region, 1, U32) for region in regions}
shared = next(region for region in regions if flags[region] & 3 == 2)
arguments = next(region for region in regions if flags[region] & 1)


def memory(region, kind):
    address = c.c_void_p()
    ok(hsa.hsa_memory_allocate(U64(region), c.c_size_t(c.sizeof(kind)), c.byref(address)))
    return kind.from_address(address.value)


# ---- the kernel

code = open(sys.argv[1], "rb").read()
reader, executable, symbol, kernel = U64(), U64(), U64(), U64()
ok(hsa.hsa_code_object_reader_create_from_memory(code, c.c_size_t(len(code)), c.byref(reader)))
ok(hsa.hsa_executable_create_alt(0, 0, None, c.byref(executable)))
ok(hsa.hsa_executable_load_agent_code_object(executable, U64(gpu), reader, None, None))
ok(hsa.hsa_executable_freeze(executable, None))
ok(hsa.hsa_executable_get_symbol_by_name(executable, b"vector_add.kd", c.byref(U64(gpu)), c.byref(symbol)))
ok(hsa.hsa_executable_symbol_get_info(symbol, 22, c.byref(kernel)))

# ---- one packet on a queue

COUNT = 1000
a, b, total = (memory(shared, c.c_float * COUNT) for _ in range(3))
a[:], b[:] = range(COUNT), [0.5 * i for i in range(COUNT)]
kernarg = memory(arguments, c.c_char * 256)
c.memmove(kernarg, struct.pack("256s", struct.pack("QQQ", *map(c.addressof, (a, b, total)))), 256)

queue, done = c.POINTER(c.c_uint64)(), U64()
ok(hsa.hsa_queue_create(U64(gpu), 64, 0, None, None, U32(2**32 - 1), U32(2**32 - 1), c.byref(queue)))
ok(hsa.hsa_signal_create(c.c_int64(1), 0, None, c.byref(done)))
ring, doorbell = queue[1], U64(queue[2])
index = hsa.hsa_queue_add_write_index_relaxed(queue, U64(1))
slot = ring + index % 64 * 64
packet = struct.pack("<HHHHHHIIIIIQQQQ", 0, 1, 50, 1, 1, 0, COUNT, 1, 1, 0, 0, kernel.value, c.addressof(kernarg), 0, done.value)
c.memmove(slot + 4, packet[4:], 60)
# The first word last: dispatch (2), barrier, system fences; one dimension.
U32.from_address(slot).value = (2 | 1 << 8 | 2 << 9 | 2 << 11) | 1 << 16
hsa.hsa_signal_store_screlease(doorbell, c.c_int64(index))
while hsa.hsa_signal_wait_scacquire(done, 0, c.c_int64(0), U64(2**64 - 1), 0):
    pass

good = all(total[i] == 1.5 * i for i in range(COUNT))
print(f"{COUNT} sums are {'right' if good else 'wrong'}")
ok(hsa.hsa_queue_destroy(queue))
ok(hsa.hsa_signal_destroy(done))
ok(hsa.hsa_executable_destroy(executable))
ok(hsa.hsa_code_object_reader_destroy(reader))
ok(hsa.hsa_shut_down())
print("1 passed, 0 failed" if good else "0 passed, 1 failed")
sys.exit(not good)
