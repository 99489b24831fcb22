/* Any bytes as a jitdump, behind a true header or not. */
#include <string.h>

#include "input.h"
#include "program/jitdump.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const uint64_t ADDRESSES[] = {0, 0x1000, 0x1010, 0x2000, 1 << 20, UINT64_MAX};
    struct memory_file file = memory_file(data, size);
    struct jitdump *dump = jitdump_of_file(dup(file.fd));
    struct jitdump_place place;
    require(dump && jitdump_read(dump) && jitdump_read(dump));
    for (size_t i = 0; i < sizeof ADDRESSES / sizeof *ADDRESSES; i++)
        for (uint64_t time = 0; time < 256; time += 51)
            if (jitdump_find(dump, ADDRESSES[i], time, &place))
                require(strlen(place.name) && (!place.file || strlen(place.file)));
    jitdump_free(dump);
    close(file.fd);
    return 0;
}
