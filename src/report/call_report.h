/* What `culprit top --tree` and `--callers` tell: who called whom. */
#pragma once

#include "query/call_profile.h"
#include "report/profile_report.h"

/* Callers of one procedure. */
struct caller_tree {
    uint32_t procedure;
    struct call_frames frames;
};

struct call_report {
    struct report report; /* verb, notes and next */
    const struct profile_set *set;
    const struct profile_event *event;
    const struct call_profile *profile;
    const struct caller_tree *callers; /* NULL: the tree of what was called */
    size_t caller_count;
    bool inclusive; /* callers are of procedures with what they called */
    double least;   /* share of all values, 0 to 1, that a frame shown has at least */
};

/* Adds what the figures rest on to the notes. False: out of memory. */
bool call_report_add_worth(struct call_report *report);

void call_report_text(const struct call_report *report, const struct page *page);
/* One object, with a newline (docs/json.md): all frames, also those below `least`. */
bool call_report_json(const struct call_report *report, FILE *file, struct error *error);
