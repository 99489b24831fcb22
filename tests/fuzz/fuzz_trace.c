/* Trace files of arbitrary records. The checksums of an input are made right before it is read, so
 * that what lies behind them is tested; each batch that comes out must keep its promises. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xxhash.h>

#include "trace/file_format.h"
#include "trace/trace.h"

static void require(int truth) {
    if (!truth)
        abort();
}

static void seal_records(uint8_t *bytes, size_t size) {
    size_t at = FILE_PROLOGUE_BYTES;
    while (size >= RECORD_HEADER_BYTES && at <= size - RECORD_HEADER_BYTES) {
        uint32_t payload = get_u32(bytes + at + 4);
        if (payload > size - at - RECORD_HEADER_BYTES)
            return;
        uint64_t seed = XXH3_64bits(bytes + at, 8);
        put_u64(bytes + at + 8,
                XXH3_64bits_withSeed(bytes + at + RECORD_HEADER_BYTES, payload, seed));
        at += RECORD_HEADER_BYTES + payload;
    }
}

static void check_batch(const struct trace *trace, const struct trace_batch *batch) {
    const struct code *code = trace_code(trace);
    require(batch->insn_count <= TRACE_BATCH_INSNS && batch->access_count <= TRACE_BATCH_ACCESSES);
    require(batch->thread < trace_thread_count(trace));
    require(batch->process < trace_process_count(trace));
    for (uint32_t i = 0; i < batch->insn_count; i++) {
        const struct dynamic_insn *insn = &batch->insns[i];
        require(insn->insn < code->insn_count);
        uint32_t first = insn->memory - (uint32_t)batch->first_access;
        require(first <= batch->access_count && insn->memory_count <= batch->access_count - first);
        for (uint32_t m = 0; m < insn->memory_count; m++)
            require(batch->accesses[first + m].size_bytes > 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint8_t *bytes = malloc(size + 1);
    int fd = memfd_create("fuzz_trace", 0);
    require(bytes && fd >= 0);
    memcpy(bytes, data, size);
    seal_records(bytes, size);
    require(write(fd, bytes, size) == (ssize_t)size);
    free(bytes);

    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    struct error error;
    struct trace *trace = trace_open(path, &error);
    struct trace_batch batch;
    while (trace && trace_next(trace, &batch, &error) > 0)
        check_batch(trace, &batch);
    trace_close(trace);
    close(fd);
    return 0;
}
