/* Any bytes as a machine file: an error of one line, or a machine that machine_check accepts. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "machine/machine.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static int file = -1;
    static char path[64];
    if (file < 0) {
        file = memfd_create("machine", 0);
        assert(file >= 0);
        snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    }
    if (ftruncate(file, 0) || pwrite(file, bytes, size, 0) != (ssize_t)size)
        return 0;
    static struct machine machine;
    struct error error = {0};
    if (machine_load(path, &machine, &error))
        assert(machine_check(&machine, &error));
    else
        assert(error.message[0] && !strchr(error.message, '\n'));
    return 0;
}
