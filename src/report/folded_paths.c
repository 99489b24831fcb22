/* Folded stacks of a simulation, for flame graphs: "main;deflate;longest_match;[ST-L1] 1234", the
 * cycles of each chain of callers by event, as the innermost frame; they sum to the run's. The
 * chain of a frame is written once, into a buffer, and then before each of its events. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/call_report.h"
#include "util/array.h"

enum { EVENT_BYTES = 128 };

struct folding {
    const struct call_profile *profile;
    uint32_t *chain; /* frames, the innermost first */
    char *text;      /* of a chain */
    size_t length, capacity;
    double seen;    /* cycles of the cells so far */
    uint64_t given; /* of them, whole ones that were written */
};

/* A semicolon separates frames. */
static bool put_name(struct folding *folding, const char *name) {
    const size_t length = strlen(name);
    if (!array_room(folding->text, folding->capacity, folding->length + length + 1))
        return false;
    for (size_t i = 0; i < length; i++)
        folding->text[folding->length++] = name[i] == ';' || name[i] == '\n' ? ':' : name[i];
    folding->text[folding->length++] = ';';
    return true;
}

static bool put_chain(struct folding *folding, uint32_t frame) {
    const struct call_frame *frames = folding->profile->frames.items;
    size_t depth = 0;
    bool room = true;
    for (uint32_t at = frame; at; at = frames[at].parent)
        folding->chain[depth++] = at;
    folding->length = 0;
    while (room && depth-- > 0)
        room = put_name(folding,
                        folding->profile->procedures[frames[folding->chain[depth]].procedure].name);
    return room;
}

/* A cell's whole cycles: what is left of one is passed on, so that those of all sum to the run's.
 */
static uint64_t whole_cycles(struct folding *folding, double value) {
    folding->seen += value;
    const uint64_t upto = (uint64_t)(folding->seen + 0.5), before = folding->given;
    folding->given = upto;
    return upto - before;
}

bool call_report_folded(const struct call_profile *profile, FILE *file) {
    struct folding folding = {.profile = profile,
                              .chain = malloc((profile->frames.count + 1) * sizeof *folding.chain)};
    bool room = folding.chain;
    for (size_t i = 0; room && i < profile->cell_count; i++) {
        const struct call_cell *cell = &profile->cells[i];
        char event[EVENT_BYTES];
        if (!i || cell->frame != cell[-1].frame)
            room = put_chain(&folding, cell->frame);
        const uint64_t cycles = whole_cycles(&folding, cell->value);
        if (!room || !cycles)
            continue;
        psv_format(cell->psv, event, sizeof event);
        fwrite(folding.text, 1, folding.length, file);
        fprintf(file, "[%s] %" PRIu64 "\n", event, cycles);
    }
    free(folding.chain);
    free(folding.text);
    return room;
}
