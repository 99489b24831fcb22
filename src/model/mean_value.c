/* A state is how many threads of each class there are, as digits of a number: class c has the place
 * value of the product of (threads + 1) over the classes before it. States in the order of these
 * numbers have their neighbours with a thread less behind them. */
#include "model/mean_value.h"

#include <stdlib.h>

enum { MAX_CLASSES = 64, MAX_STATES = 1 << 24 };

bool mean_value_analysis(const struct mean_value_class *classes, uint32_t count, double *throughput,
                         struct error *error) {
    uint64_t place[MAX_CLASSES], states = 1;
    for (uint32_t c = 0; c < count && states <= MAX_STATES; c++) {
        if (c == MAX_CLASSES)
            return error_set(error, "more than %d programs on a core", MAX_CLASSES);
        place[c] = states;
        states *= classes[c].threads + 1;
    }
    double *ready = states <= MAX_STATES ? calloc(states, sizeof *ready) : NULL; /* mean number */
    if (!ready)
        return error_set(error, "out of memory for a core with so many different programs");
    for (uint64_t state = 1; state < states; state++)
        for (uint32_t c = 0; c < count; c++) {
            const uint64_t threads = state / place[c] % (classes[c].threads + 1);
            if (threads == 0)
                continue;
            const double response = classes[c].service * (1 + ready[state - place[c]]);
            throughput[c] = 1 / (classes[c].delay + response);
            ready[state] += (double)threads * throughput[c] * response;
        }
    free(ready);
    return true;
}
