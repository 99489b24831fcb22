/* Any bytes as a saved profile. What is read keeps its promises, comes back the same when it is
 * written, and can be put into the models. */
#include <math.h>
#include <string.h>

#include "input.h"
#include "model/contention.h"
#include "model/locality.h"

static char *written(const struct locality *locality, size_t *size) {
    char *text = NULL;
    struct error error;
    FILE *out = open_memstream(&text, size);
    require(out && locality_write(locality, out, &error));
    fclose(out);
    return text;
}

static void check_level(const struct locality_level *level) {
    struct error error;
    double extra, hits = 0;
    for (uint32_t d = 0; d < level->shape.ways; d++)
        for (uint32_t i = 0; i < LOCALITY_OCTAVES; i++)
            hits += (double)level->circular[d][i].count;
    for (int model = CONTENTION_MEASURED; model <= CONTENTION_PRIOR; model++) {
        const struct contention_thread thread = {level, 0.25, 1, 4};
        const struct contention_options options = {(enum contention_model)model, CONTENTION_GROUPS,
                                                   model == CONTENTION_MEASURED};
        require(contention_extra(&thread, 1, &options, &extra, &error));
        require(extra >= 0 && extra <= hits * (1 + 1e-9));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct error error = {0};
    struct locality locality, again;
    struct memory_file file = memory_file(data, size);
    if (locality_read(&locality, file.path, &error)) {
        size_t first_size, second_size;
        for (uint32_t i = 0; i < locality.level_count; i++)
            check_level(&locality.levels[i]);
        char *first = written(&locality, &first_size);
        struct memory_file copy = memory_file(first, first_size);
        require(locality_read(&again, copy.path, &error));
        char *second = written(&again, &second_size);
        require(first_size == second_size && !memcmp(first, second, first_size));
        free(first);
        free(second);
        locality_free(&again);
        close(copy.fd);
    } else
        require(error.message[0] && !strchr(error.message, '\n'));
    locality_free(&locality);
    close(file.fd);
    return 0;
}
