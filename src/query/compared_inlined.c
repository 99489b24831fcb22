/* Places of both runs are sorted by image and function, so that a function is found by halves. What
 * is renamed is noted first and done when both runs have been looked through. */
#include <stdio.h>
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

/* The only function that begins so; NULL: none, or several. */
static const char *only_one(const struct compared_run *run, const char *image, const char *begin) {
    const struct compared_place *places = run->places;
    const size_t length = strlen(begin);
    size_t at = first_where(
        i, run->count, (strcmp(places[i].image, image) ?: strcmp(places[i].function, begin)) >= 0);
    const char *found = NULL;
    for (; at < run->count && !strcmp(places[at].image, image) &&
           !strncmp(places[at].function, begin, length);
         at++)
        if (!found)
            found = places[at].function;
        else if (strcmp(places[at].function, found) != 0)
            return NULL;
    return found;
}

/* What the run calls a function that debug information calls `name`: static ones of C++ have no
 * linkage name there, and their symbols tell the arguments. NULL: it has none. */
static const char *name_in(const struct compared_run *run, const char *image, const char *name) {
    static const char *const SCOPES[] = {"", "(anonymous namespace)::"};
    char begin[512];
    const char *found = compared_has_function(run, image, name) ? name : NULL;
    for (unsigned i = 0; !found && i < 2; i++)
        if (snprintf(begin, sizeof begin, "%s%s(", SCOPES[i], name) < (int)sizeof begin)
            found = only_one(run, image, begin);
    return found;
}

static bool find(struct compared_run *run, const struct compared_run *other) {
    bool any = false;
    for (size_t i = 0; i < run->count; i++) {
        struct compared_place *place = &run->places[i];
        for (unsigned k = 0; k < COMPARED_INLINES && place->inlined[k] && !place->within; k++) {
            const char *name = name_in(other, place->image, place->inlined[k]);
            if (name && !compared_has_function(run, place->image, name)) {
                place->within = name;
                any = true;
            }
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
