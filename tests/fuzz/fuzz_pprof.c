/* Profiles of pprof, compressed or not: whatever they say, importing gives an error of one line or
 * samples. */
#include <string.h>

#include "exchange/import.h"
#include "input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct memory_file file = memory_file(data, size);
    struct import import = {0};
    struct input input;
    struct error error = {0};
    if (input_open(&input, file.path, &error) && import_pprof(&input, &import, &error))
        require(import.records > 0);
    else
        require(error.message[0] && !strchr(error.message, '\n'));
    gathered_free(&import.gathered);
    input_close(&input);
    close(file.fd);
    return 0;
}
