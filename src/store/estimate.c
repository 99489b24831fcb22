/* What prints otherwise when it is printed again is no estimate, but part of a unit's name. */
#include "store/estimate.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MOST_WITHIN 1e6

void estimate_print(const struct store_estimate *estimate, char text[ESTIMATE_SIZE]) {
    text[0] = 0;
    if (!estimate->count)
        return;
    const int used =
        snprintf(text, ESTIMATE_SIZE, "; %" PRIu64 " %s, %.6f of the instructions", estimate->count,
                 estimate->windows ? "windows" : "regions", estimate->simulated);
    if (estimate->within >= 0)
        snprintf(text + used, ESTIMATE_SIZE - (size_t)used, ", within %.6f", estimate->within);
}

size_t estimate_read(const char *unit, struct store_estimate *estimate) {
    const char *behind = strstr(unit, "; ");
    struct store_estimate read = {.within = -1};
    char what[8], text[ESTIMATE_SIZE];
    *estimate = (struct store_estimate){0};
    if (!behind || sscanf(behind, "; %" SCNu64 " %7[a-z], %lf of the instructions, within %lf",
                          &read.count, what, &read.simulated, &read.within) < 3)
        return strlen(unit);
    read.windows = !strcmp(what, "windows");
    if (!(read.simulated >= 0 && read.simulated <= 1 && read.within <= MOST_WITHIN))
        return strlen(unit);
    estimate_print(&read, text);
    if (strcmp(text, behind) != 0)
        return strlen(unit);
    *estimate = read;
    return (size_t)(behind - unit);
}

bool estimate_same(const struct store_estimate *one, const struct store_estimate *other) {
    char texts[2][ESTIMATE_SIZE];
    estimate_print(one, texts[0]);
    estimate_print(other, texts[1]);
    return !strcmp(texts[0], texts[1]);
}
