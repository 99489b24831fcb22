#include "trace/foreign/foreign.h"

#include <string.h>

bool foreign_source_open(struct unpack *unpack, struct item_source *source, struct error *error) {
    uint8_t bytes[FOREIGN_LOOK];
    const ssize_t n = unpack_peek(unpack, bytes, sizeof bytes, error);
    if (n > 0 && drmemtrace_is(bytes, (size_t)n))
        return drmemtrace_source_open(unpack, source, error);
    if (n > 0 && champsim_is(bytes, (size_t)n))
        return champsim_source_open(unpack, source, error);
    if (n >= 0)
        error_set(error,
                  "%s is not a trace made by culprit trace, nor one of ChampSim or drmemtrace",
                  unpack_path(unpack));
    unpack_close(unpack);
    return false;
}
