/* What `culprit top` tells (DCPI §3.1, Fig. 1): rows of profiles with their samples or cycles, one
 * pair of columns for each event. */
#ifndef CULPRIT_REPORT_PROFILE_REPORT_H
#define CULPRIT_REPORT_PROFILE_REPORT_H

#include "report/profile_set.h"
#include "report/profile_table.h"
#include "util/text.h"

enum { PROFILE_EVENTS_MAX = 16, PROFILE_EVENTS_SHOWN = 3 }; /* in text; JSON has all */

struct profile_report {
    struct report report; /* verb, notes and next; the rest is not used */
    const struct profile_set *set;
    enum profile_by by;
    const struct profile_event *events[PROFILE_EVENTS_MAX]; /* by column of the table */
    size_t event_count;
    const struct profile_table *table;
    bool filtered; /* it has a part of the samples only */
};

/* Adds what the figures rest on to the notes. False: out of memory. */
bool profile_report_add_worth(struct profile_report *report);

/* At most 100 columns wide. */
void profile_report_text(const struct profile_report *report, const struct page *page);
/* One object, with a newline (docs/json.md). */
bool profile_report_json(const struct profile_report *report, FILE *file, struct error *error);

/* ---- pieces, for other reports on profiles ---- */

/* The row's members of a JSON object: image, offset, and by the kind of row procedure, file and
 * line, process, epoch. */
json_t *profile_row_json(const struct profile_row *row, enum profile_by by);
json_t *profile_notes_json(const struct report *report);
json_t *profile_json_text(const char *text); /* its control characters replaced; NULL: null */
bool profile_write_json(json_t *object, FILE *file, struct error *error); /* frees it */

/* Text in exactly so many columns; of what is too long, a path, the beginning is left out. */
void profile_put_cell(const char *text, unsigned columns, enum text_align align, FILE *file);
void profile_put_path(const char *path, unsigned columns, FILE *file);

#endif
