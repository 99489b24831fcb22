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

struct item foreign_beginning(int stage, const char *path, const char *host, const char *image) {
    if (stage == FOREIGN_HEADER)
        return (struct item){
            .kind = ITEM_HEADER,
            .header = {.isa = ISA_X86_64, .command = path, .host = host, .addresses = true}};
    if (stage == FOREIGN_PROCESS)
        return (struct item){.kind = ITEM_PROCESS,
                             .process = {.parent = UINT32_MAX,
                                         .forker = UINT32_MAX,
                                         .known = UINT32_MAX,
                                         .command = path,
                                         .executable = image,
                                         .traced = true}};
    return (struct item){.kind = ITEM_IMAGE,
                         .image = {.path = image, .kind = CODE_IMAGE_ANONYMOUS, .end = UINT64_MAX}};
}
