/* Stacks of three frames, "process;image;procedure", summed over everything before they are
 * written, in the order in which they were met. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/export.h"
#include "util/array.h"
#include "util/intern.h"

enum { NAME_BYTES = 4096 };

struct folding {
    struct export *export;
    struct intern stacks; /* numbers index `sums` */
    uint64_t *sums;
    size_t capacity;
};

static bool add(struct folding *folding, const char *stack, size_t length, uint64_t value) {
    size_t known = folding->stacks.count;
    if (!array_room(folding->sums, folding->capacity, known + 1))
        return false;
    uint32_t number = intern_add(&folding->stacks, stack, length);
    if (number == INTERN_NONE)
        return false;
    if (number == known)
        folding->sums[number] = 0;
    folding->sums[number] += value;
    return true;
}

static bool fail(struct folding *folding) {
    folding->export->failed = true;
    return false;
}

static bool visit_profile(void *context, const struct store_profile *profile) {
    struct folding *folding = context;
    struct export *export = folding->export;
    struct export_event *event = export_event_of(export, profile);
    char stack[3 * NAME_BYTES + 3], procedure[NAME_BYTES];
    if (!event)
        return true;
    const char *command = profile->process->command;
    export_clean(stack, NAME_BYTES, *command ? command : "[unknown]", ';');
    size_t base = strlen(stack);
    stack[base++] = ';';
    export_clean(stack + base, NAME_BYTES, profile->image->path, ';');
    base += strlen(stack + base);
    stack[base++] = ';';
    for (size_t i = 0; i < profile->count; i++) {
        struct location location;
        uint64_t distance;
        uint64_t value = export_value(event, profile, profile->values[i].value, &distance);
        if (!value)
            continue;
        if (!image_names_locate_procedure(export->names, profile->image, profile->values[i].offset,
                                          &location, export->error))
            return fail(folding);
        export_procedure(profile->image, &location, procedure, sizeof procedure);
        export_clean(stack + base, NAME_BYTES, procedure, ';');
        if (!add(folding, stack, base + strlen(stack + base), value)) {
            error_set(export->error, "out of memory for stacks");
            return fail(folding);
        }
    }
    return true;
}

static bool one_event(const struct export *export) {
    for (size_t i = 1; i < export->event_count; i++)
        if (strcmp(export->events[i].name, export->events[0].name) != 0)
            return error_set(export->error,
                             "folded stacks have one number a line, and there are %s and %s: "
                             "choose with --event NAME",
                             export->events[0].name, export->events[i].name);
    return true;
}

bool export_folded(struct export *export) {
    struct folding folding = {.export = export};
    bool good =
        one_event(export) &&
        store_each_profile(export->store, export->filter, visit_profile, &folding, export->error) &&
        !export->failed;
    for (size_t i = 0; good && i < folding.stacks.count; i++)
        fprintf(export->file, "%s %" PRIu64 "\n", intern_text(&folding.stacks, (uint32_t)i),
                folding.sums[i]);
    intern_free(&folding.stacks);
    free(folding.sums);
    return good;
}
