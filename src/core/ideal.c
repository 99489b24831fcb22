/* Names of the idealisations (interaction-cost paper Tables I and III). */
#include "core/core.h"
#include "util/array.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name, *description;
} ideals[IDEAL_COUNT] = {
    {"imiss", "instruction cache and TLB always hit"},
    {"dmiss", "data accesses always hit the L1 cache and TLB"},
    {"dl1", "L1 data cache latency zero"},
    {"shalu", "one-cycle integer operations take zero cycles"},
    {"lgalu", "longer integer and fp operations take zero cycles"},
    {"bw", "unlimited fetch, issue, commit, units, ports, stores"},
    {"bmisp", "branches always predicted right"},
    {"win", "window (ROB, queues, registers) 20 times larger"},
    {"stfwd", "stores forward to loads they cover only in part"},
    {"dlong", "a last-level data miss takes last-level hit latency"},
    {"split", "loads and stores that lie in two lines cost what others do"},
};

const char *ideal_name(unsigned index) {
    return index < IDEAL_COUNT ? ideals[index].name : "?";
}

const char *ideal_description(unsigned index) {
    return index < IDEAL_COUNT ? ideals[index].description : "?";
}

bool ideal_parse(const char *list, uint32_t *ideal, struct error *error) {
    uint32_t bits = 0;
    while (*list) {
        size_t length = strcspn(list, ",");
        const size_t number = index_where(i, IDEAL_COUNT,
                                          strlen(ideals[i].name) == length &&
                                              memcmp(list, ideals[i].name, length) == 0);
        if (number == IDEAL_COUNT) {
            char known[160] = "";
            for (unsigned k = 0; k < IDEAL_COUNT; k++)
                snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", k ? ", " : "",
                         ideals[k].name);
            return error_set(error, "unknown idealisation '%.*s': choose from %s", (int)length,
                             list, known);
        }
        bits |= 1u << number;
        list += length;
        list += *list == ',';
    }
    *ideal = bits;
    return true;
}
