/* Stacks "process;procedure;...;procedure", where callers were sampled, and else of three frames,
 * "process;image;procedure", summed over everything before they are written, in the order in which
 * they were met. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/export.h"
#include "util/array.h"
#include "util/intern.h"

enum { NAME_BYTES = 4096, STACK_BYTES = 1 << 20 };

struct folding {
    struct export *export;
    struct intern stacks; /* numbers index `sums` */
    uint64_t *sums;
    size_t capacity;
    char *text; /* of one stack */
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

/* Appends a name and what separates it from the next; as much as there is room for. */
static void put_name(char **at, const char *end, const char *name) {
    if (end - *at < 2)
        return;
    export_clean(*at, (size_t)(end - *at) - 1, name, ';');
    *at += strlen(*at);
    *(*at)++ = ';';
}

static bool put_frame(struct folding *folding, const struct export_frame *frame, char **at,
                      const char *end) {
    struct export *export = folding->export;
    struct location location;
    char procedure[NAME_BYTES];
    if (!frame->image) {
        put_name(at, end, export_cut_name(frame->offset));
        return true;
    }
    if (!image_names_locate_procedure(export->names, frame->image, frame->offset, &location,
                                      export->error))
        return false;
    export_procedure(frame->image, &location, procedure, sizeof procedure);
    put_name(at, end, procedure);
    return true;
}

static bool visit_stack(void *context, const struct export_stack *stack) {
    struct folding *folding = context;
    char *text = folding->text, *at = text;
    const char *end = text + STACK_BYTES;
    const char *command = stack->process->command;
    put_name(&at, end, *command ? command : "[unknown]");
    if (!stack->has_callers)
        put_name(&at, end, stack->frames[0].image->path);
    for (size_t i = stack->count; i-- > 0;)
        if (!put_frame(folding, &stack->frames[i], &at, end))
            return false;
    /* Samples at different distances weigh what they stand for. */
    const bool weighed = stack->event->periods_differ && stack->event->periodic;
    return add(folding, text, (size_t)(at - text) - 1, weighed ? stack->distance : stack->value) ||
           error_set(folding->export->error, "out of memory for stacks");
}

bool export_folded(struct export *export) {
    struct folding folding = {.export = export, .text = malloc(STACK_BYTES)};
    bool good = (folding.text || error_set(export->error, "out of memory for stacks")) &&
                export_one_event(export, "folded stacks have one number a line") &&
                export_each_stack(export, visit_stack, &folding);
    for (size_t i = 0; good && i < folding.stacks.count; i++)
        fprintf(export->file, "%s %" PRIu64 "\n", intern_text(&folding.stacks, (uint32_t)i),
                folding.sums[i]);
    intern_free(&folding.stacks);
    free(folding.sums);
    free(folding.text);
    return good;
}
