/* Any bytes as the code of a procedure, followed by what its tables are read from: the graph holds
 * together. The first byte chooses the architecture, the second how much is code. */
#include <string.h>

#include "../cfg_check.h"
#include "input.h"

enum { ADDRESS = 0x401000 };

struct image {
    const uint8_t *bytes;
    size_t size;
};

static bool read_image(void *context, uint64_t address, void *bytes, size_t size) {
    const struct image *image = context;
    uint64_t offset = address - ADDRESS;
    if (offset > image->size || size > image->size - offset)
        return false;
    memcpy(bytes, image->bytes + offset, size);
    return true;
}

static const char *name_of(void *context, uint64_t address) {
    (void)context;
    return address % 16 == 0 ? "abort@plt" : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2)
        return 0;
    struct image image = {data + 2, size - 2};
    struct procedure_code code = {.isa = data[0] & 1 ? ISA_RISCV64 : ISA_X86_64,
                                  .bytes = image.bytes,
                                  .size = image.size * (1 + data[1] % 8) / 8,
                                  .address = ADDRESS,
                                  .read = data[0] & 2 ? NULL : read_image,
                                  .name = data[0] & 4 ? NULL : name_of,
                                  .context = &image};
    struct cfg cfg;
    struct error error = {0};
    if (cfg_build(&cfg, &code, &error)) {
        const char *problem = cfg_problem(&cfg);
        if (problem)
            fprintf(stderr, "%s\n", problem);
        require(!problem);
    } else {
        require(error.message[0] != '\0');
    }
    cfg_free(&cfg);
    return 0;
}
