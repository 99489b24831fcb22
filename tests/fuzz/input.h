/* What the fuzz targets share: a promise that holds in every build, and an input as a file that a
 * reader can open by its path. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "util/little_endian.h"
#include "util/record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void require(int truth) {
    if (!truth)
        abort();
}

/* Close `fd` to remove it. */
struct memory_file {
    int fd;
    char path[64];
};

static inline struct memory_file memory_file(const void *bytes, size_t size) {
    struct memory_file file = {.fd = memfd_create("fuzz", 0)};
    require(file.fd >= 0 && write(file.fd, bytes, size) == (ssize_t)size);
    snprintf(file.path, sizeof file.path, "/proc/self/fd/%d", file.fd);
    return file;
}

/* Makes the checksums of the records right, from `at` on, so that what lies behind them is tested.
 */
static inline void seal_records(uint8_t *bytes, size_t size, size_t at) {
    while (size >= RECORD_HEAD_BYTES && at <= size - RECORD_HEAD_BYTES) {
        uint32_t payload = get_u32(bytes + at + 4);
        if (payload > size - at - RECORD_HEAD_BYTES)
            return;
        put_u64(bytes + at + 8,
                record_checksum(bytes + at, bytes + at + RECORD_HEAD_BYTES, payload));
        at += RECORD_HEAD_BYTES + payload;
    }
}
