/* One record for all that was counted at a place: its period is that of all its samples together,
 * as flame graphs and others add it up; comments at the beginning tell that of one, for those that
 * count. The store keeps no process numbers: they are those of its rows. The call stack is a single
 * frame. */
#include <inttypes.h>

#include "exchange/export.h"

enum { NAME_BYTES = 4096 };

static void put_head(const struct export *export, const struct store_profile *profile,
                     uint64_t period) {
    char command[NAME_BYTES], event[NAME_BYTES];
    uint64_t us = profile->session->start > 0 ? (uint64_t)profile->session->start / 1000 : 0;
    export_clean(command, sizeof command, profile->process->command, 0);
    export_clean(event, sizeof event, profile->event->name, ' ');
    fprintf(export->file, "%s %" PRId64 " [000] %" PRIu64 ".%06" PRIu64 ": %10" PRIu64 " %s: \n",
            *command ? command : ":0", profile->process->id, us / 1000000, us % 1000000, period,
            event);
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

static void put_frame(const struct export *export, const struct store_image *image, uint64_t offset,
                      const struct location *location) {
    char name[NAME_BYTES], path[NAME_BYTES];
    export_clean(path, sizeof path, image->path, 0);
    fprintf(export->file, "\t%16" PRIx64 " ", address_of(image, offset));
    if (location->function) {
        export_clean(name, sizeof name, location->function, 0);
        fprintf(export->file, "%s+0x%" PRIx64, name, offset - location->function_offset);
    } else
        fputs("[unknown]", export->file);
    fprintf(export->file, " (%s)\n\n", image->kind == IMAGE_KERNEL ? "[kernel.kallsyms]" : path);
}

static bool visit_profile(void *context, const struct store_profile *profile) {
    struct export *export = context;
    struct export_event *event = export_event_of(export, profile);
    for (size_t i = 0; event && i < profile->count; i++) {
        struct location location;
        uint64_t distance,
            value = export_value(event, profile, profile->values[i].value, &distance);
        if (!value)
            continue;
        if (!image_names_locate_procedure(export->names, profile->image, profile->values[i].offset,
                                          &location, export->error))
            return !(export->failed = true);
        put_head(export, profile, event->periodic ? distance : value);
        put_frame(export, profile->image, profile->values[i].offset, &location);
    }
    return true;
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
    return store_each_profile(export->store, export->filter, visit_profile, export,
                              export->error) &&
           !export->failed;
}
