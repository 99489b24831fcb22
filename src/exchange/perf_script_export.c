/* One record for all that was counted at a place: its period is that of all its samples together,
 * as flame graphs and others add it up; comments at the beginning tell that of one, for those that
 * count. The store keeps no process numbers: they are those of its rows. Where callers were not
 * sampled the call stack is a single frame. */
#include <inttypes.h>

#include "exchange/export.h"
#include "util/array.h"

enum { NAME_BYTES = 4096 };

static void put_head(const struct export *export, const struct export_stack *stack) {
    char command[NAME_BYTES], event[NAME_BYTES];
    uint64_t us = stack->session->start > 0 ? (uint64_t)stack->session->start / 1000 : 0;
    export_clean(command, sizeof command, stack->process->command, 0);
    export_clean(event, sizeof event, stack->event->name, ' ');
    fprintf(export->file, "%s %" PRId64 " [000] %" PRIu64 ".%06" PRIu64 ": %10" PRIu64 " %s: \n",
            *command ? command : ":0", stack->process->id, us / 1000000, us % 1000000,
            stack->event->periodic ? stack->distance : stack->value, event);
}

/* Where the kernel and its modules would lie if they were not placed at random, so that readers
 * tell them from user code. */
static uint64_t address_of(const struct store_image *image, uint64_t offset) {
    if (image->kind == IMAGE_KERNEL && offset < UINT64_C(1) << 31)
        return UINT64_C(0xffffffff81000000) + offset;
    if (image->kind == IMAGE_MODULE && offset < UINT64_C(1) << 30)
        return UINT64_C(0xffffffffc0000000) + offset;
    return offset;
}

static bool put_frame(const struct export *export, const struct export_frame *frame) {
    char name[NAME_BYTES], path[NAME_BYTES];
    const struct store_image *image = frame->image;
    struct location location;
    if (!image) /* perf ends such a stack without a word */
        return true;
    if (!image_names_locate_procedure(export->names, image, frame->offset, &location,
                                      export->error))
        return false;
    export_clean(path, sizeof path, image->path, 0);
    fprintf(export->file, "\t%16" PRIx64 " ", address_of(image, frame->offset));
    if (location.function) {
        export_clean(name, sizeof name, location.function, 0);
        fprintf(export->file, "%s+0x%" PRIx64, name, frame->offset - location.function_offset);
    } else
        fputs("[unknown]", export->file);
    fprintf(export->file, " (%s)\n", image->kind == IMAGE_KERNEL ? "[kernel.kallsyms]" : path);
    return true;
}

static bool visit_stack(void *context, const struct export_stack *stack) {
    const struct export *export = context;
    put_head(export, stack);
    bool good = all_where(i, stack->count, put_frame(export, &stack->frames[i]));
    fputc('\n', export->file);
    return good;
}

static void put_event(const struct export *export, const struct export_event *event) {
    char name[NAME_BYTES];
    export_clean(name, sizeof name, event->name, ' ');
    if (event->periodic)
        fprintf(export->file, "# one sample of %s: %" PRIu64 "\n", name, event->period);
    else
        fprintf(export->file, "# one sample of %s: 1\n", name);
}

bool export_perf_script(struct export *export) {
    fputs("# a record holds all samples of a process at an address, with their periods added\n",
          export->file);
    for (size_t i = 0; i < export->event_count; i++)
        put_event(export, &export->events[i]);
    for (size_t i = 0; i < export->note_count; i++)
        fprintf(export->file, "# %s\n", export->notes[i]);
    return export_each_stack(export, visit_stack, export);
}
