#include "report/profile_next.h"

#include <inttypes.h>
#include <string.h>

#include "util/text.h"

/* The first procedure in a file: its code can be read. NULL: there is none. */
static const struct profile_row *first_readable(const struct profile_report *report) {
    for (size_t i = 0; i < profile_table_count(report->table); i++)
        if (profile_table_row(report->table, i)->covered &&
            profile_table_row(report->table, i)->image[0] == '/')
            return profile_table_row(report->table, i);
    return NULL;
}

/* As annotate finds it; by its place when its name would fill more than a line. */
static void put_procedure(FILE *file, const struct profile_row *row) {
    enum { LINE = 60 };
    char name[PATH_MAX + 64];
    profile_row_name(row, name, sizeof name);
    if (text_columns(name) > LINE && row->covered && !(row->offset >> 63))
        snprintf(name, sizeof name, "%s+0x%" PRIx64, row->image, row->offset);
    fputc(' ', file);
    text_put_word(file, name);
}

/* Of waits it is not known where they were, of none. */
static bool is_unplaced(const struct profile_report *report) {
    return (report->by == PROFILE_BY_PROCEDURE || report->by == PROFILE_BY_IMAGE) &&
           profile_table_total(report->table) == 1 &&
           !strcmp(profile_table_row(report->table, 0)->image, "[unknown]");
}

/* Of code that can be annotated; NULL: there is none, or the rows are of something else. */
static const struct profile_row *readable_row(const struct profile_report *report) {
    const bool lasts = profile_event_lasts(report->events[0]); /* of no instructions */
    return report->by == PROFILE_BY_PROCEDURE && !lasts ? first_readable(report) : NULL;
}

void profile_next_verb(const struct profile_report *report, FILE *file) {
    const bool lasts = profile_event_lasts(report->events[0]);
    if (report->set->epoch_count > 1 && report->by == PROFILE_BY_LINE)
        fputs("culprit variance", file);
    else
        fputs(readable_row(report) ? "culprit annotate" : "culprit top", file);
    if (lasts)
        fprintf(file, " --%s --event %s", is_unplaced(report) ? "by thread" : "tree",
                report->events[0]->name);
}

void profile_next_rows(const struct profile_report *report, FILE *file) {
    const struct profile_row *first = profile_table_row(report->table, 0);
    const struct profile_row *readable = readable_row(report);
    const bool lasts = profile_event_lasts(report->events[0]);
    switch (report->by) {
    case PROFILE_BY_PROCEDURE:
        if (!readable && !lasts)
            fputs(" --by process", file);
        if (readable)
            put_procedure(file, readable);
        break;
    case PROFILE_BY_IMAGE:
        if (!lasts) /* --tree is of all images */
            text_put_option(file, "image", first->image);
        break;
    case PROFILE_BY_PROCESS:
        text_put_option(file, "process", first->process);
        break;
    case PROFILE_BY_PID:
        if (first->told)
            fprintf(file, " --pid %" PRIu32, first->pid);
        break;
    case PROFILE_BY_THREAD:
        if (first->told)
            fprintf(file, " --thread %" PRIu32, first->thread);
        break;
    case PROFILE_BY_CPU:
        if (first->told)
            fprintf(file, " --cpu %" PRIu32, first->processor - 1);
        break;
    case PROFILE_BY_CGROUP:
        if (first->told)
            text_put_option(file, "cgroup", first->process);
        break;
    case PROFILE_BY_HOST:
        if (first->told)
            text_put_option(file, "host", first->process);
        break;
    case PROFILE_BY_BUILD:
        if (*first->build)
            fprintf(file, " --build %.12s", first->build);
        break;
    case PROFILE_BY_EPOCH:
        fprintf(file, " --epoch %" PRId64, first->epoch);
        break;
    default:
        if (report->set->epoch_count == 1)
            fputs(" --by process", file);
    }
}
