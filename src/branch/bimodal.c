/* Bimodal (Smith 1981): a table of two-bit counters, one for each branch while there are enough of
 * them. Counters start at weakly not taken. */
#include <stdlib.h>
#include <string.h>

#include "branch/predictors.h"

uint8_t *counters_new(uint32_t entries, uint8_t start) {
    uint8_t *counters = malloc(entries);
    if (counters)
        memset(counters, start, entries);
    return counters;
}

bool bimodal_init(struct bimodal *bimodal, const struct machine_branch *machine) {
    const uint32_t entries = machine->bimodal_entries;
    bimodal->counters = counters_new(entries, 1);
    bimodal->mask = entries - 1;
    return bimodal->counters != NULL;
}

bool bimodal_predict(struct bimodal *bimodal, uint64_t address, bool taken) {
    uint8_t *counter = &bimodal->counters[(address >> 1) & bimodal->mask];
    bool predicted = *counter >= 2;
    counter_train(counter, taken);
    return predicted;
}

void bimodal_copy(struct bimodal *bimodal, const struct bimodal *from) {
    memcpy(bimodal->counters, from->counters, from->mask + 1);
}

void bimodal_free(struct bimodal *bimodal) {
    free(bimodal->counters);
}
