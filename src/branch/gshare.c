/* gshare (McFarling 1993 §7). A history shorter than the index is xored with the index's high bits,
 * where the addresses of nearby branches differ least.
 */
#include <stdlib.h>
#include <string.h>

#include "branch/predictors.h"

bool gshare_init(struct gshare *gshare, const struct machine_branch *machine) {
    const uint32_t entries = machine->gshare_entries, history_bits = machine->history;
    gshare->counters = counters_new(entries, 1);
    gshare->mask = entries - 1;
    gshare->history = 0;
    gshare->history_mask = (1u << history_bits) - 1;
    gshare->shift = (uint32_t)__builtin_ctz(entries) - history_bits;
    return gshare->counters != NULL;
}

bool gshare_predict(struct gshare *gshare, uint64_t address, bool taken) {
    uint32_t index = ((uint32_t)(address >> 1) ^ gshare->history << gshare->shift) & gshare->mask;
    uint8_t *counter = &gshare->counters[index];
    bool predicted = *counter >= 2;
    counter_train(counter, taken);
    gshare->history = (gshare->history << 1 | taken) & gshare->history_mask;
    return predicted;
}

void gshare_copy(struct gshare *gshare, const struct gshare *from) {
    memcpy(gshare->counters, from->counters, from->mask + 1);
    gshare->history = from->history;
}

void gshare_free(struct gshare *gshare) {
    free(gshare->counters);
}
