/* Files of samples with arbitrary records. The checksums of an input are made right before it is
 * read, so that what lies behind them is tested; each sample that comes out must keep its promises.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "samples/format.h"

static void require(int truth) {
    if (!truth)
        abort();
}

static void seal_records(uint8_t *bytes, size_t size) {
    size_t at = SAMPLE_PROLOGUE_BYTES;
    while (size >= SAMPLE_RECORD_BYTES && at <= size - SAMPLE_RECORD_BYTES) {
        uint32_t payload = get_u32(bytes + at + 4);
        if (payload > size - at - SAMPLE_RECORD_BYTES)
            return;
        put_u64(bytes + at + 8,
                sample_checksum(bytes + at, bytes + at + SAMPLE_RECORD_BYTES, payload));
        at += SAMPLE_RECORD_BYTES + payload;
    }
}

static void check_sample(const struct sample_reader *reader, const struct sample *sample) {
    uint32_t width = sample_reader_header(reader)->commit_width;
    uint8_t banks[SAMPLE_MAX_BANKS];
    unsigned count = sample_sharers(sample, width, banks);
    require(count > 0 && count <= width);
    for (unsigned i = 0; i < count; i++) {
        struct sample_place place;
        require(sample->valid >> banks[i] & 1 && sample->events[banks[i]] < PSV_COMBINATIONS);
        if (sample_reader_place(reader, sample->process, sample->address[banks[i]], &place))
            require(strlen(place.path) < SAMPLE_PAYLOAD_MAX && place.build_id_size <= 20);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint8_t *bytes = malloc(size + 1);
    int fd = memfd_create("fuzz_samples", 0);
    require(bytes && fd >= 0);
    memcpy(bytes, data, size);
    seal_records(bytes, size);
    require(write(fd, bytes, size) == (ssize_t)size);
    free(bytes);

    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    struct error error;
    struct sample sample;
    struct sample_reader *reader = sample_reader_open(path, &error);
    while (reader && sample_reader_next(reader, &sample, &error) > 0)
        check_sample(reader, &sample);
    sample_reader_close(reader);
    close(fd);
    return 0;
}
