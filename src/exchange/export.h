/* What the writers of each format share: the walk over the profiles, names, and values as they are
 * shown. */
#pragma once

#include <stdio.h>

#include "store/image_names.h"
#include "store/store.h"

/* An event, of all sessions that have one of this name, unit and distance unit. */
struct export_event {
    char *name, *unit, *period_unit;
    bool periodic;               /* in all: values can be told in period units, too */
    uint64_t period;             /* of the first session */
    bool periods_differ;         /* others have another */
    bool cycles;                 /* values are in 1/840 cycles */
    long double value, distance; /* exact sums so far, of what was written, and times the period */
    uint64_t value_written, distance_written;
};

struct export {
    struct store *store;
    const struct store_filter *filter;
    FILE *file;
    struct program *program;
    struct image_names *names;
    struct export_event *events; /* in the order in which sessions have them */
    size_t event_count, event_capacity;
    int64_t start, end; /* ns since 1970 UTC, of all sessions */
    size_t session_count;
    char **notes; /* lines of what a reader should know: which runs are estimated */
    size_t note_count, note_capacity;
    bool columns; /* the format has instructions of a simulation beside its cycles */
    struct error *error;
    bool failed;
};

struct export_frame {
    const struct store_image *image; /* NULL: an enum store_cut */
    uint64_t offset;                 /* as in struct store_call */
};

/* What was counted in one place, with its callers where they are known. */
struct export_stack {
    const struct store_session *session;
    const struct store_process *process;
    struct export_event *event;
    const struct export_frame *frames; /* the innermost first */
    size_t count;                      /* ≥ 1 */
    bool has_callers;                  /* they were looked for, though there may be none */
    uint32_t signature;
    uint64_t value; /* as it is shown: samples, or cycles, times the weight of its session; > 0 */
    uint64_t distance; /* times the period; 0 when the event is not periodic */
};

/* Values are rounded so that their sums are off by less than one. The visitor's false, with an
 * error, ends the walk, which fails. */
typedef bool export_visitor(void *context, const struct export_stack *stack);
bool export_each_stack(struct export *export, export_visitor *visit, void *context);

/* Likewise, but the places of all profiles, without callers; and the stacks of those with callers
 * alone. A stack of a simulation ends in a function, not in an instruction of it. */
bool export_each_place(struct export *export, export_visitor *visit, void *context);
bool export_each_called(struct export *export, export_visitor *visit, void *context);

/* An event of a simulation that counts how often instructions were executed. */
bool export_is_instructions(const char *name, const char *unit);

/* Components that cycles of the event are of, as far as sessions have them: a bit for each. */
bool export_components(const struct export *export, const struct export_event *event,
                       uint32_t *components);

/* Inside of this room. NULL: `export` has no such event. */
struct export_event *export_event_of(const struct export *export, const struct store_event *event);

/* A name without line ends and other control characters; `not` is replaced too (0: nothing). */
void export_clean(char *to, size_t size, const char *name, char not );

/* The name of what stands in place of a frame (enum store_cut). */
const char *export_cut_name(uint64_t cut);

/* The procedure's name: of an unnamed one "gzip+0x2f40", where it begins; "[gzip]" where not even
 * that is known. */
void export_procedure(const struct store_image *image, const struct location *location, char *text,
                      size_t size);

/* For formats with one number a line or stack: one event is chosen, or there is only one. `what`
 * they have: "folded stacks have one number a line". */
bool export_one_event(const struct export *export, const char *what);

bool export_callgrind(struct export *export);
bool export_cachegrind(struct export *export);
bool export_firefox(struct export *export);
bool export_csv(struct export *export);
bool export_otlp(struct export *export);
bool export_pprof(struct export *export);
bool export_perf_script(struct export *export);
bool export_folded(struct export *export);
