/* Samples of an event that is not time, by instruction of a procedure: where memory is touched
 * first, where branches go wrong. Nothing follows from them for the cycles of the procedure, so
 * that there are no executions, no cycles per instruction and no culprits. */
#pragma once

#include <jansson.h>

#include "analyze/cfg.h"
#include "query/procedure_choice.h"
#include "report/page.h"
#include "report/report.h"

struct event_places {
    const struct procedure_choice *choice;
    const struct profile_event *event;
    struct program *program;
    uint8_t *bytes;
    struct procedure_code code;
    struct cfg cfg;
    struct procedure_profile profile;
    struct report report; /* notes; the rest is not used */
};

/* All outlive it. event_places_free() either way. */
bool event_places_build(struct event_places *places, const struct profile_set *set,
                        const struct profile_event *event, struct program *program,
                        const struct procedure_choice *choice, struct error *error);
void event_places_free(struct event_places *places);

struct event_places_style {
    bool full;   /* blocks without samples as well */
    bool source; /* source lines between the instructions */
};
/* False: out of memory. */
bool event_places_text(const struct event_places *places, const struct event_places_style *style,
                       const struct page *page);
/* The procedure's object (docs/json.md, annotate). */
json_t *event_places_json(const struct event_places *places);
