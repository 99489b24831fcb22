/* How wrong the flame graph of each profiler is: its samples by the calls that led to what they
 * name, against Oracle's cycles.
 *
 *     simulation with path_profiles ──► path_errors_build() ──► path_errors_text()
 *                                                          └──► path_errors_json() */
#pragma once

#include "query/path_profile.h"
#include "report/json_values.h"
#include "report/page.h"

struct comparison_request;

/* One profile; shares and errors are 0 to 1. */
struct path_error {
    const char *label;
    uint64_t samples;
    double error, floor;             /* of cycles by chain of callers; NaN: no samples */
    double stack_error, stack_floor; /* likewise by chain and events; NaN also: it tells of none */
    double worst; /* largest difference of a function's share, with all that it called */
    uint32_t worst_procedure;
    double *frames;     /* share of each frame of the tree, with what it called */
    double *procedures; /* likewise of each function, each stack once */
};

struct path_errors {
    const struct call_profile *profile;
    struct path_error *rows;
    uint32_t count;
    double *procedures;    /* Oracle's shares, as above */
    uint32_t *sorted;      /* procedures by those, largest first */
    uint32_t shown, total; /* of them: as many as were asked for; those with any share */
};

/* `profile` was read of the simulation; both, and the labels, outlive the errors. `top` of the
 * request: functions that are shown. False, with an error; path_errors_free() either way. */
bool path_errors_build(struct path_errors *errors, struct call_profile *profile,
                       const struct simulation *simulation, const struct code *code,
                       struct program *program, const struct comparison_request *request,
                       struct error *error);
void path_errors_free(struct path_errors *errors);

void path_errors_text(const struct path_errors *errors, const struct page *page);
/* Adds `paths` to each of the profilers' objects, which are in the order of the rows, and
 * `inclusive_functions` to the report's. */
void path_errors_json(const struct path_errors *errors, json_t *profilers, json_t *object);
