/* What `culprit top` tells (DCPI §3.1, Fig. 1): rows of profiles with their samples or cycles, one
 * pair of columns for each event. */
#pragma once

#include <stdio.h>

#include "query/profile_set.h"
#include "query/profile_table.h"
#include "report/json_values.h"
#include "report/report.h"
#include "util/text.h"

enum { PROFILE_EVENTS_MAX = 16, PROFILE_EVENTS_SHOWN = 3 }; /* in text; JSON has all */

struct profile_report {
    struct report report; /* verb, notes and next; the rest is not used */
    const struct profile_set *set;
    enum profile_by by;
    const struct profile_event *events[PROFILE_EVENTS_MAX]; /* by column of the table */
    size_t event_count;
    size_t squares; /* column of the first event's (profile_table_add_squares()); 0: its samples
                       count alike */
    const struct profile_table *table;
    struct program *program;         /* the table's */
    bool filtered;                   /* it has a part of the samples only */
    const struct timeline *timeline; /* over time (over_time.h): one event alone; NULL: not */
};

/* Adds what the figures rest on to the notes. False: out of memory. */
bool profile_report_add_worth(struct profile_report *report);

/* By host, where both events are there: cycles for each instruction, by the periods of samples; 0:
 * not known. */
double profile_report_cpi(const struct profile_report *report, const double *values);

/* At most 100 columns wide. */
void profile_report_text(const struct profile_report *report, const struct page *page);
/* One object, with a newline (docs/json.md). */
bool profile_report_json(const struct profile_report *report, FILE *file, struct error *error);

/* ---- pieces, for other reports on profiles ---- */

/* When, where, of what. Two or three lines of at most 100 columns; the caller's style is on for the
 * first. */
void profile_set_text(const struct profile_set *set, FILE *file);
/* Which of the epochs' samples, a line; nothing when all. */
void sample_choice_text(const struct sample_choice *choice, FILE *file);
/* "cpu-clock: 61,952 samples, one every 192 us", behind a margin. Wraps. */
void profile_event_text(const struct profile_event *event, double total, const char *margin,
                        const struct page *page);
/* Adds notes on what the figures of this event rest on: its precision, and the error of sampling of
 * rows that have `largest` and `smallest` (0: there is none). False: out of memory. */
bool profile_set_worth(const struct profile_set *set, const struct profile_event *event,
                       double largest, double smallest, struct report *report);
/* Adds what of its store was passed over, as that could not be read: also one of the above. */
bool profile_set_note_damage(const struct profile_set *set, struct report *report);

/* The options that choose the set: " --store FILE --epoch 2..5"; words are not quoted. */
void profile_set_arguments(const struct profile_set *set, bool store, FILE *file);

/* Why rows that are shown have no names, and how to have them: of files, see missing_names.h; of
 * what is no file, one note each for at most `most` images. `what` names column 0; `program` and
 * `by` are the table's. False: out of memory. */
bool profile_note_images(const struct profile_table *table, enum profile_by by, size_t most,
                         const char *what, struct program *program, struct report *report);

/* An epoch, with how long it lasted and its events (NULL: without); all of a set; an event
 * (docs/json.md). */
json_t *session_json(const struct store_session *session, json_t *seconds, json_t *events);
/* Which of their samples; null: all. */
json_t *sample_choice_json(const struct sample_choice *choice);
json_t *profile_set_epochs_json(const struct profile_set *set);
json_t *profile_event_json(const struct profile_event *event, double total);

/* What stands beside the name of a row: "image", "executable"; NULL: nothing. */
const char *profile_place_heading(enum profile_by by);

/* The row's members of a JSON object: image, offset, and by the kind of row procedure, file and
 * line, process, epoch. */
json_t *profile_row_json(const struct profile_row *row, enum profile_by by);
