/* Traces of other tools, of arbitrary bytes; the first byte says how they are packed, so that what
 * lies behind that is tested. Each batch that comes out must keep its promises, and a trace that is
 * read to its end gives the same once more. */
#include <string.h>
#include <zlib.h>

#include "input.h"
#include "trace/trace.h"

static uint64_t check_batch(const struct trace *trace, const struct trace_batch *batch) {
    const struct code *code = trace_code(trace);
    uint64_t sum = batch->thread;
    require(batch->insn_count <= TRACE_BATCH_INSNS && batch->access_count <= TRACE_BATCH_ACCESSES);
    for (uint32_t i = 0; i < batch->insn_count; i++) {
        const struct dynamic_insn *insn = &batch->insns[i];
        const uint32_t first = insn->memory - (uint32_t)batch->first_access;
        require(insn->insn < code->insn_count);
        require(first <= batch->access_count && insn->memory_count <= batch->access_count - first);
        sum = sum * 31 + insn->insn + insn->flags;
        char text[64];
        const struct static_insn *what = &code->insns[insn->insn];
        require(what->uop_count > 0 && what->length > 0);
        static_insn_text(code->isa, what, what->address, text, sizeof text);
    }
    for (uint32_t i = 0; i < batch->access_count; i++)
        require(batch->accesses[i].size_bytes > 0);
    return sum;
}

static bool read_all(const char *path, uint64_t *sum) {
    struct error error;
    struct trace_batch batch;
    struct trace *trace = trace_open(path, &error);
    int status = trace ? 1 : -1;
    *sum = 0;
    while (trace && (status = trace_next(trace, &batch, &error)) > 0)
        *sum = *sum * 17 + check_batch(trace, &batch);
    if (status < 0)
        require(error.message[0]);
    trace_close(trace);
    return status == 0;
}

static struct memory_file packed(const uint8_t *data, size_t size) {
    uLong room = compressBound(size) + 64;
    uint8_t *bytes = malloc(room);
    z_stream zlib = {0};
    require(bytes && deflateInit2(&zlib, 1, Z_DEFLATED, 31, 8, 0) == Z_OK);
    zlib.next_in = (uint8_t *)data;
    zlib.avail_in = (uInt)size;
    zlib.next_out = bytes;
    zlib.avail_out = (uInt)room;
    require(deflate(&zlib, Z_FINISH) == Z_STREAM_END);
    struct memory_file file = memory_file(bytes, zlib.total_out);
    deflateEnd(&zlib);
    free(bytes);
    return file;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!size)
        return 0;
    struct memory_file file =
        data[0] & 1 ? packed(data + 1, size - 1) : memory_file(data + 1, size - 1);
    uint64_t sum, again;
    if (read_all(file.path, &sum))
        require(read_all(file.path, &again) && sum == again);
    close(file.fd);
    return 0;
}
