#include "model/pace.h"

#include <stdlib.h>

#include "util/array.h"

void pace_free(struct pace *pace) {
    free(pace->clock);
    *pace = (struct pace){0};
}

bool pace_end_interval(struct pace *pace, double clock) {
    return array_push(pace->clock, pace->capacity, pace->count, clock);
}
