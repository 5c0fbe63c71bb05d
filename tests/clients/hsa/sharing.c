/* Memory of a device in another process, as a file descriptor, and as a buffer of another interface. Use: sharing KERNELS;
 * the program starts itself again as the other process. */
#include "advance.h"
#include "child.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

static const char *kernels_root;
static struct worker worker;

enum { WORDS = 10000, BYTES = WORDS * 4 };

static void begin(void)
{
    NEED_OK(hsa_init());
    find_agents();
    worker = new_worker(kernels_root, gpu);
}

static void end(void)
{
    end_worker(&worker);
    CHECK_OK(hsa_shut_down());
}

static int pointer_type(const void *address)
{
    hsa_amd_pointer_info_t info = { .size = sizeof info };
    CHECK_OK(hsa_amd_pointer_info(address, &info, NULL, NULL, NULL));
    return (int)info.type;
}

/* ---- the other process ---- */

static void receive_handle(hsa_amd_ipc_memory_t *handle) { NEED(receive_all(FROM_PARENT, handle, sizeof *handle)); }

static void step(void)
{
    char one = 's';
    NEED(send_all(TO_PARENT, &one, 1));
    NEED(receive_all(FROM_PARENT, &one, 1));
}

/* Takes memory, changes it, sees the parent's changes, lets go and takes it again; then it must be gone. */
static void taker(void)
{
    hsa_amd_ipc_memory_t handle;
    receive_handle(&handle);
    uint32_t *memory = NULL, *second = NULL;
    NEED_OK(hsa_amd_ipc_memory_attach(&handle, BYTES, 1, &gpu->handle, (void **)&memory));
    CHECK(wrong_device_words(memory, WORDS, 1, 0) == 0, "%u words are not the owner's", wrong_device_words(memory, WORDS, 1, 0));
    hsa_amd_pointer_info_t info = { .size = sizeof info };
    CHECK_OK(hsa_amd_pointer_info(memory + 100, &info, NULL, NULL, NULL));
    CHECK(info.type == HSA_EXT_POINTER_TYPE_IPC && info.agentBaseAddress == memory && info.sizeInBytes >= BYTES &&
              info.agentOwner.handle == gpu->handle.handle,
          "type %d, size %zu", info.type, info.sizeInBytes);
    run(&worker, memory, WORDS);
    step();
    CHECK(wrong_device_words(memory, WORDS, 9, 4) == 0, "%u words are not what the owner made of them", wrong_device_words(memory, WORDS, 9, 4));
    CHECK_OK(hsa_amd_ipc_memory_attach(&handle, BYTES, 0, NULL, (void **)&second));
    run(&worker, second, WORDS);
    CHECK_OK(hsa_amd_ipc_memory_detach(second));
    CHECK_STATUS(hsa_amd_ipc_memory_attach(&handle, BYTES + 100000, 1, &gpu->handle, (void **)&second),
                 HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_amd_ipc_memory_attach(&handle, BYTES, 1, &(hsa_agent_t){ 12345 }, (void **)&second),
                 HSA_STATUS_ERROR_INVALID_AGENT);
    CHECK_STATUS(hsa_amd_memory_pool_free(memory), HSA_STATUS_ERROR_INVALID_ALLOCATION);
    step();
    /* The owner has freed it: who has it keeps it, but nobody gets it any more. */
    CHECK(wrong_device_words(memory, WORDS, 27, 13) == 0, "%u words changed", wrong_device_words(memory, WORDS, 27, 13));
    run(&worker, memory, WORDS);
    CHECK(wrong_device_words(memory, WORDS, 81, 40) == 0, "%u words are wrong", wrong_device_words(memory, WORDS, 81, 40));
    CHECK_STATUS(hsa_amd_ipc_memory_attach(&handle, BYTES, 1, &gpu->handle, (void **)&second),
                 HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_OK(hsa_amd_ipc_memory_detach(memory));
    CHECK_STATUS(hsa_amd_ipc_memory_detach(memory), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK(pointer_type(memory) == HSA_EXT_POINTER_TYPE_UNKNOWN, "type %d", pointer_type(memory));
}

static void taker_to_be_killed(void)
{
    hsa_amd_ipc_memory_t handle;
    receive_handle(&handle);
    uint32_t *memory = NULL;
    NEED_OK(hsa_amd_ipc_memory_attach(&handle, BYTES, 1, &gpu->handle, (void **)&memory));
    run(&worker, memory, WORDS);
    raise(SIGKILL);
}

static void owner_to_be_killed(void)
{
    uint32_t *memory = device_pattern(&worker, WORDS);
    hsa_amd_ipc_memory_t handle;
    NEED_OK(hsa_amd_ipc_memory_create(memory, BYTES, &handle));
    NEED(send_all(TO_PARENT, &handle, sizeof handle));
    pause();
}

/* Maps the buffer whose descriptor it inherited. */
static void buffer_taker(int descriptor)
{
    size_t size = 0;
    char *buffer = NULL;
    NEED_OK(hsa_amd_interop_map_buffer(1, &gpu->handle, descriptor, 0, &size, (void **)&buffer, NULL, NULL));
    CHECK(size >= BYTES, "%zu bytes", size);
    run(&worker, (uint32_t *)buffer, WORDS);
    CHECK_OK(hsa_amd_interop_unmap_buffer(buffer));
}

/* ---- this process ---- */

static void memory_of_two_processes(void)
{
    uint32_t *memory = device_pattern(&worker, WORDS);
    hsa_amd_ipc_memory_t handle, again;
    CHECK_STATUS(hsa_amd_ipc_memory_create(memory + 1, BYTES - 4, &handle), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_amd_ipc_memory_create(memory, BYTES / 2, &handle), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_amd_ipc_memory_create(memory, BYTES, NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_amd_ipc_memory_create(NULL, BYTES, &handle), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_amd_ipc_memory_create(&handle, sizeof handle, &handle), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    NEED_OK(hsa_amd_ipc_memory_create(memory, BYTES, &handle));
    CHECK_OK(hsa_amd_ipc_memory_create(memory, BYTES, &again));
    CHECK(memcmp(&handle, &again, sizeof handle) == 0, "the same memory has two names");
    CHECK(wrong_device_words(memory, WORDS, 1, 0) == 0, "%u words changed when the memory got a name", wrong_device_words(memory, WORDS, 1, 0));
    hsa_amd_ipc_memory_t nobodys = { { 0 } };
    void *none = NULL;
    CHECK_STATUS(hsa_amd_ipc_memory_attach(&nobodys, BYTES, 1, &gpu->handle, &none), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    nobodys = handle;
    nobodys.handle[5] ^= 1;
    CHECK_STATUS(hsa_amd_ipc_memory_attach(&nobodys, BYTES, 1, &gpu->handle, &none), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_amd_ipc_memory_attach(NULL, BYTES, 1, &gpu->handle, &none), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_amd_ipc_memory_detach(memory), HSA_STATUS_ERROR_INVALID_ARGUMENT);

    struct child other = start_child(kernels_root, "taker", NULL);
    char one = 0;
    NEED(send_child(&other, &handle, sizeof handle));
    NEED(receive_child(&other, &one, 1));
    CHECK(wrong_device_words(memory, WORDS, 3, 1) == 0, "%u words are not what the other made of them", wrong_device_words(memory, WORDS, 3, 1));
    run(&worker, memory, WORDS);
    NEED(send_child(&other, &one, 1));
    NEED(receive_child(&other, &one, 1));
    CHECK(wrong_device_words(memory, WORDS, 27, 13) == 0, "%u words are not what the other made of them", wrong_device_words(memory, WORDS, 27, 13));
    CHECK_OK(hsa_amd_memory_pool_free(memory));
    NEED(send_child(&other, &one, 1));
    int status = end_child(&other);
    CHECK(exited(status, 0), "the other process ended with %#x", status);
}

static void owner_outlives_a_killed_taker(void)
{
    uint32_t *memory = device_pattern(&worker, WORDS);
    hsa_amd_ipc_memory_t handle;
    NEED_OK(hsa_amd_ipc_memory_create(memory, BYTES, &handle));
    struct child other = start_child(kernels_root, "taker-to-be-killed", NULL);
    NEED(send_child(&other, &handle, sizeof handle));
    int status = end_child(&other);
    CHECK(killed(status, SIGKILL), "the other process ended with %#x", status);
    CHECK(wrong_device_words(memory, WORDS, 3, 1) == 0, "%u words are wrong", wrong_device_words(memory, WORDS, 3, 1));
    run(&worker, memory, WORDS);
    CHECK(wrong_device_words(memory, WORDS, 9, 4) == 0, "%u words are wrong", wrong_device_words(memory, WORDS, 9, 4));
    CHECK_OK(hsa_amd_memory_pool_free(memory));
}

static unsigned entries(const char *path)
{
    unsigned count = 0;
    DIR *directory = opendir(path);
    NEED(directory != NULL);
    for (struct dirent *entry; (entry = readdir(directory));)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(directory);
    return count;
}

/* Entries of /dev/shm that could be the runtime's. */
static unsigned shared_files(void)
{
    unsigned count = 0;
    DIR *directory = opendir("/dev/shm");
    if (!directory)
        return 0;
    for (struct dirent *entry; (entry = readdir(directory));)
        count += strstr(entry->d_name, "hansa") != NULL || strstr(entry->d_name, "hsa") != NULL;
    closedir(directory);
    return count;
}

static void taker_outlives_a_killed_owner(void)
{
    char temporary[64];
    snprintf(temporary, sizeof temporary, "/tmp/sharing-client-%d", (int)getpid());
    NEED(mkdir(temporary, 0700) == 0 || errno == EEXIST);
    setenv("TMPDIR", temporary, 1);
    unsigned before = shared_files();
    struct child owner = start_child(kernels_root, "owner-to-be-killed", NULL);
    hsa_amd_ipc_memory_t handle;
    NEED(receive_child(&owner, &handle, sizeof handle));
    uint32_t *memory = NULL, *late = NULL;
    NEED_OK(hsa_amd_ipc_memory_attach(&handle, BYTES, 1, &gpu->handle, (void **)&memory));
    kill(owner.process, SIGKILL);
    int status = end_child(&owner);
    CHECK(killed(status, SIGKILL), "the owner ended with %#x", status);
    CHECK(wrong_device_words(memory, WORDS, 1, 0) == 0, "%u words went with their owner", wrong_device_words(memory, WORDS, 1, 0));
    run(&worker, memory, WORDS);
    CHECK(wrong_device_words(memory, WORDS, 3, 1) == 0, "%u words are wrong", wrong_device_words(memory, WORDS, 3, 1));
    CHECK_STATUS(hsa_amd_ipc_memory_attach(&handle, BYTES, 1, &gpu->handle, (void **)&late), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_OK(hsa_amd_ipc_memory_detach(memory));
    CHECK(entries(temporary) == 0, "%u files are left in %s", entries(temporary), temporary);
    CHECK(shared_files() <= before, "%u files in /dev/shm, %u before", shared_files(), before);
    unsetenv("TMPDIR");
    rmdir(temporary);
}

static void device_memory_as_a_file(void)
{
    uint32_t *memory = device_pattern(&worker, WORDS);
    int file = -1;
    uint64_t offset = 99;
    NEED_OK(hsa_amd_portable_export_dmabuf(memory + 1024, 100, &file, &offset));
    CHECK(offset == 4096, "offset %lu", (unsigned long)offset);
    CHECK_OK(hsa_amd_portable_close_dmabuf(file));
    CHECK(fcntl(file, F_GETFD) == -1 && errno == EBADF, "the descriptor is still open");
    CHECK_STATUS(hsa_amd_portable_close_dmabuf(file), HSA_STATUS_ERROR_RESOURCE_FREE);
    NEED_OK(hsa_amd_portable_export_dmabuf_v2(memory, BYTES, &file, &offset, HSA_AMD_DMABUF_MAPPING_TYPE_PCIE));
    CHECK(offset == 0, "offset %lu", (unsigned long)offset);
    off_t length = lseek(file, 0, SEEK_END);
    CHECK(length >= BYTES && length < BYTES + (1 << 16), "%ld bytes", (long)length);
    const uint32_t *mapped = mmap(NULL, BYTES, PROT_READ, MAP_SHARED, file, 0);
    NEED(mapped != MAP_FAILED);
    CHECK(mapped[0] == pattern(0) && mapped[WORDS - 1] == pattern(WORDS - 1), "%#x", mapped[0]);

    /* As a buffer of another interface, here and in another process. */
    size_t size = 0, metadata_size = 77;
    uint32_t *buffer = NULL;
    const void *metadata = &size;
    NEED_OK(hsa_amd_interop_map_buffer(1, &gpu->handle, file, 0, &size, (void **)&buffer, &metadata_size, &metadata));
    CHECK(size == (size_t)length && buffer != memory, "%zu bytes at %p", size, (void *)buffer);
    CHECK(metadata_size == 0 && metadata == NULL, "%zu bytes of metadata at %p", metadata_size, metadata);
    CHECK(pointer_type(buffer) == HSA_EXT_POINTER_TYPE_GRAPHICS, "type %d", pointer_type(buffer));
    run(&worker, buffer, WORDS);
    CHECK(wrong_device_words(memory, WORDS, 3, 1) == 0, "%u words are wrong", wrong_device_words(memory, WORDS, 3, 1));
    CHECK(mapped[1] == pattern(1) * 3 + 1, "%#x", mapped[1]);
    int inherited = fcntl(file, F_DUPFD, 50);
    char number[16];
    snprintf(number, sizeof number, "%d", inherited);
    struct child other = start_child(kernels_root, "buffer-taker", number);
    int status = end_child(&other);
    CHECK(exited(status, 0), "the other process ended with %#x", status);
    close(inherited);
    CHECK(wrong_device_words(memory, WORDS, 9, 4) == 0, "%u words are wrong", wrong_device_words(memory, WORDS, 9, 4));

    /* Each lives as long as it is held. */
    CHECK_OK(hsa_amd_memory_pool_free(memory));
    CHECK_OK(hsa_amd_portable_close_dmabuf(file));
    CHECK(wrong_device_words(buffer, WORDS, 9, 4) == 0, "%u words went with their owner", wrong_device_words(buffer, WORDS, 9, 4));
    CHECK_OK(hsa_amd_interop_unmap_buffer(buffer));
    CHECK(pointer_type(buffer) == HSA_EXT_POINTER_TYPE_UNKNOWN, "type %d", pointer_type(buffer));
    CHECK(mapped[1] == pattern(1) * 9 + 4, "%#x", mapped[1]);
    munmap((void *)mapped, BYTES);
}

static void what_cannot_be_a_file_is_refused(void)
{
    uint32_t *memory = pool_alloc(gpu->coarse, BYTES), *host = pool_alloc(cpu->fine, BYTES);
    int file = -1;
    uint64_t offset = 0;
    CHECK_STATUS(hsa_amd_portable_export_dmabuf(NULL, 1, &file, &offset), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_amd_portable_export_dmabuf(memory, 0, &file, &offset), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_amd_portable_export_dmabuf(memory, 1, NULL, &offset), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_amd_portable_export_dmabuf(memory, 1, &file, NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_amd_portable_export_dmabuf(memory, 1 << 20, &file, &offset), HSA_STATUS_ERROR_INVALID_ALLOCATION);
    CHECK_STATUS(hsa_amd_portable_export_dmabuf(&file, 1, &file, &offset), HSA_STATUS_ERROR_INVALID_ALLOCATION);
    CHECK_STATUS(hsa_amd_portable_export_dmabuf(host, 1, &file, &offset), HSA_STATUS_ERROR_INVALID_AGENT);
    CHECK_STATUS(hsa_amd_portable_export_dmabuf_v2(memory, 1, &file, &offset, 2), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK(file == -1, "descriptor %d", file);
    CHECK_STATUS(hsa_amd_portable_close_dmabuf(-1), HSA_STATUS_ERROR_RESOURCE_FREE);

    size_t size = 0;
    void *buffer = NULL;
    int null = open("/dev/null", O_RDWR);
    CHECK_STATUS(hsa_amd_interop_map_buffer(1, &gpu->handle, null, 0, &size, &buffer, NULL, NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_amd_interop_map_buffer(1, &gpu->handle, -1, 0, &size, &buffer, NULL, NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_amd_interop_map_buffer(0, &gpu->handle, null, 0, &size, &buffer, NULL, NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_amd_interop_map_buffer(1, &gpu->handle, null, 1, &size, &buffer, NULL, NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_amd_interop_map_buffer(1, &gpu->handle, null, 0, NULL, &buffer, NULL, NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_amd_interop_map_buffer(1, &(hsa_agent_t){ 12345 }, null, 0, &size, &buffer, NULL, NULL), HSA_STATUS_ERROR_INVALID_AGENT);
    close(null);
    CHECK_OK(hsa_amd_interop_unmap_buffer(NULL));
    CHECK_OK(hsa_amd_interop_unmap_buffer(memory));
    CHECK(pointer_type(memory) == HSA_EXT_POINTER_TYPE_HSA, "type %d", pointer_type(memory));
    CHECK_OK(hsa_amd_memory_pool_free(memory));
    CHECK_OK(hsa_amd_memory_pool_free(host));
}

/* Descriptors and mappings come back, however often memory is shared. */
static void nothing_is_left_of_what_was_shared(void)
{
    unsigned before = 0;
    for (int round = 0; round < 300; round++) {
        uint32_t *memory = pool_alloc(gpu->coarse, 1 << 20), *taken = NULL;
        hsa_amd_ipc_memory_t handle;
        NEED_OK(hsa_amd_ipc_memory_create(memory, 1 << 20, &handle));
        NEED_OK(hsa_amd_ipc_memory_attach(&handle, 1 << 20, 1, &gpu->handle, (void **)&taken));
        CHECK_OK(hsa_amd_memory_fill(taken, (uint32_t)round, (1 << 20) / 4));
        uint32_t word = 0;
        CHECK_OK(hsa_memory_copy(&word, memory + 5, 4));
        CHECK(word == (uint32_t)round, "%u in round %d", word, round);
        CHECK_OK(hsa_amd_ipc_memory_detach(taken));
        CHECK_OK(hsa_amd_memory_pool_free(memory));
        if (round == 10)
            before = entries("/proc/self/fd");
    }
    CHECK(entries("/proc/self/fd") <= before, "%u descriptors, %u before", entries("/proc/self/fd"), before);
}

int main(int argc, char **argv)
{
    NEED(argc > 1);
    kernels_root = argv[1];
    begin();
    const char *role = argc > 2 ? argv[2] : "";
    if (strcmp(role, "taker") == 0) {
        taker();
    } else if (strcmp(role, "taker-to-be-killed") == 0) {
        taker_to_be_killed();
    } else if (strcmp(role, "owner-to-be-killed") == 0) {
        owner_to_be_killed();
    } else if (strcmp(role, "buffer-taker") == 0) {
        NEED(argc > 3);
        buffer_taker(atoi(argv[3]));
    } else {
        memory_of_two_processes();
        owner_outlives_a_killed_taker();
        taker_outlives_a_killed_owner();
        device_memory_as_a_file();
        what_cannot_be_a_file_is_refused();
        nothing_is_left_of_what_was_shared();
    }
    end();
    return check_summary();
}
