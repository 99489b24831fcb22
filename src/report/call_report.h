/* What `--tree` and `--callers` of `culprit top` and of simulations tell: who called whom. */
#pragma once

#include "query/call_profile.h"
#include "report/json_values.h"
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
    struct caller_tree *callers; /* NULL: the tree of what was called */
    size_t caller_count;
    bool inlined;   /* inlined functions have frames */
    bool flat;      /* rows of chains of callers in place of a tree */
    size_t rows;    /* of those, at most; 0: all */
    bool inclusive; /* callers are of procedures with what they called */
    double least;   /* share of all values, 0 to 1, that a frame shown has at least */
};

/* The callers of a procedure, with what it called; NULL: of the `top` (0: all) procedures that have
 * most themselves, with `least` only of those that have that share. False, with an error.
 * call_report_free_callers() either way. */
bool call_report_find_callers(struct call_report *report, const char *procedure, uint32_t top,
                              bool least, struct error *error);
void call_report_free_callers(struct call_report *report);

/* Adds what the figures rest on to the notes. False: out of memory. */
bool call_report_add_worth(struct call_report *report);

/* What trees of a simulation rest on, as notes. False: out of memory. */
bool call_report_note_paths(struct report *report, const struct call_path_result *paths);

/* The cycles of each chain of callers by event, as folded stacks. False: out of memory. */
bool call_report_folded(const struct call_profile *profile, FILE *file);

/* The tree, or the trees of callers, as a table. */
void call_report_draw(const struct call_report *report, const struct page *page);
/* The members of a JSON object that have it; NULL: out of memory. */
json_t *call_report_members(const struct call_report *report);

void call_report_text(const struct call_report *report, const struct page *page);
/* One object, with a newline (docs/json.md): all frames, also those below `least`. */
bool call_report_json(const struct call_report *report, FILE *file, struct error *error);
