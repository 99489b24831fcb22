/* Tournament (McFarling 1993 §8): SimpleScalar's "comb", the predictor of the interaction-cost
 * paper Table VII. Both components always train; the chooser trains only when they disagree. It
 * starts weakly for bimodal, which warms up faster. */
#include <stdlib.h>
#include <string.h>

#include "branch/predictors.h"

bool tournament_init(struct tournament *tournament, const struct machine_branch *machine) {
    tournament->choosers = counters_new(machine->meta_entries, 1);
    tournament->mask = machine->meta_entries - 1;
    return tournament->choosers && bimodal_init(&tournament->bimodal, machine) &&
           gshare_init(&tournament->gshare, machine);
}

bool tournament_predict(struct tournament *tournament, uint64_t address, bool taken) {
    bool by_address = bimodal_predict(&tournament->bimodal, address, taken);
    bool by_history = gshare_predict(&tournament->gshare, address, taken);
    uint8_t *chooser = &tournament->choosers[(address >> 1) & tournament->mask];
    bool predicted = *chooser >= 2 ? by_history : by_address;
    if (by_history != by_address)
        counter_train(chooser, by_history == taken);
    return predicted;
}

void tournament_free(struct tournament *tournament) {
    bimodal_free(&tournament->bimodal);
    gshare_free(&tournament->gshare);
    free(tournament->choosers);
}

void tournament_copy(struct tournament *tournament, const struct tournament *from) {
    memcpy(tournament->choosers, from->choosers, from->mask + 1);
    bimodal_copy(&tournament->bimodal, &from->bimodal);
    gshare_copy(&tournament->gshare, &from->gshare);
}
