#include "query/compared_run.h"

#include <string.h>

#include "util/array.h"

static const char *keep(struct arena *names, const char *text) {
    return arena_copy(names, text, strlen(text));
}

void compared_cost_add(struct compared_cost *sum, const struct compared_cost *cost) {
    sum->units += cost->units;
    sum->executions += cost->executions;
    for (int i = 0; i < COMPARED_CAUSES; i++)
        sum->causes[i] += cost->causes[i];
}

/* The name without what compilers put behind it. */
static size_t bare_length(const char *name) {
    static const char *const ENDINGS[] = {".constprop.", ".isra.", ".part.",
                                          ".cold",       ".llvm.", " [clone "};
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof ENDINGS / sizeof *ENDINGS; i++) {
        const char *at = strstr(name, ENDINGS[i]);
        if (at && at > name && (size_t)(at - name) < length)
            length = (size_t)(at - name);
    }
    return length;
}

bool compared_run_add(struct compared_run *run, const struct compared_place *place,
                      struct error *error) {
    struct compared_place kept = *place;
    kept.image = kept.own_image = keep(&run->names, place->image);
    kept.function = arena_copy(&run->names, place->function, bare_length(place->function));
    kept.file = place->file ? keep(&run->names, place->file) : NULL;
    kept.type = place->type ? keep(&run->names, place->type) : NULL;
    kept.text = keep(&run->names, place->text);
    bool good = true;
    for (unsigned i = 0; i < COMPARED_INLINES; i++) {
        const char *name = place->inlined[i];
        kept.inlined[i] = name ? arena_copy(&run->names, name, bare_length(name)) : NULL;
        good &= !name || kept.inlined[i];
    }
    if (!good || !kept.image || !kept.function || (place->file && !kept.file) ||
        (place->type && !kept.type) || !kept.text ||
        !array_push(run->places, run->capacity, run->count, kept))
        return error_set(error, "out of memory for what is compared");
    compared_cost_add(&run->all, &place->cost);
    return true;
}

bool compared_run_add_library(struct compared_run *run, const char *name, uint64_t build,
                              struct error *error) {
    if (any_where(i, run->library_count, !strcmp(run->libraries[i].name, name)))
        return true;
    const struct compared_library library = {keep(&run->names, name), build};
    return (library.name &&
            array_push(run->libraries, run->library_capacity, run->library_count, library)) ||
           error_set(error, "out of memory for what is compared");
}

void compared_run_free(struct compared_run *run) {
    free(run->libraries);
    free(run->places);
    arena_free(&run->names);
    *run = (struct compared_run){0};
}
