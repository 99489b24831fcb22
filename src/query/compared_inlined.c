/* Places of both runs are sorted by image and function, so that a function is found by halves. What
 * is renamed is noted first and done when both runs have been looked through. */
#include <string.h>

#include "query/compared_lines.h"
#include "util/order.h"

bool compared_has_function(const struct compared_run *run, const char *image, const char *name) {
    const struct compared_place *places = run->places;
    const size_t at = first_where(
        i, run->count, (strcmp(places[i].image, image) ?: strcmp(places[i].function, name)) >= 0);
    return at < run->count && !strcmp(places[at].image, image) &&
           !strcmp(places[at].function, name);
}

static bool find(struct compared_run *run, const struct compared_run *other) {
    bool any = false;
    for (size_t i = 0; i < run->count; i++) {
        struct compared_place *place = &run->places[i];
        for (unsigned k = 0; k < COMPARED_INLINES && place->inlined[k] && !place->within; k++)
            if (compared_has_function(other, place->image, place->inlined[k]) &&
                !compared_has_function(run, place->image, place->inlined[k])) {
                place->within = place->inlined[k];
                any = true;
            }
    }
    return any;
}

static void rename_places(struct compared_run *run) {
    for (size_t i = 0; i < run->count; i++) {
        struct compared_place *place = &run->places[i];
        if (!place->within)
            continue;
        const char *name = place->within;
        place->within = place->function;
        place->function = name;
    }
}

bool compared_inlined_match(struct compared_run *before, struct compared_run *after) {
    const bool old = find(before, after), new = find(after, before);
    rename_places(before);
    rename_places(after);
    return old || new;
}
