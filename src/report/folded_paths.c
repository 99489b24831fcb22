/* Folded stacks of a simulation, for flame graphs: "main;deflate;longest_match;[ST-L1] 1234", the
 * cycles of each chain of callers by event, as the innermost frame. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/call_report.h"

enum { EVENT_BYTES = 128 };

/* A semicolon separates frames. */
static void put_name(const char *name, FILE *file) {
    for (; *name; name++)
        fputc(*name == ';' || *name == '\n' ? ':' : *name, file);
}

/* The frames of a chain, the outermost first. */
static void put_chain(const struct call_profile *profile, uint32_t frame, uint32_t *chain,
                      FILE *file) {
    const struct call_frame *frames = profile->frames.items;
    size_t depth = 0;
    for (uint32_t at = frame; at; at = frames[at].parent)
        chain[depth++] = at;
    while (depth-- > 0) {
        put_name(profile->procedures[frames[chain[depth]].procedure].name, file);
        fputc(';', file);
    }
}

bool call_report_folded(const struct call_profile *profile, FILE *file) {
    uint32_t *chain = malloc((profile->frames.count + 1) * sizeof *chain);
    for (size_t i = 0; chain && i < profile->cell_count; i++) {
        const struct call_cell *cell = &profile->cells[i];
        char event[EVENT_BYTES];
        if (cell->value < 0.5)
            continue;
        psv_format(cell->psv, event, sizeof event);
        put_chain(profile, cell->frame, chain, file);
        fprintf(file, "[%s] %" PRIu64 "\n", event, (uint64_t)(cell->value + 0.5));
    }
    free(chain);
    return chain;
}
