/* What would be saved if a cause were gone entirely: what each costs and interacts with most
 * (interaction-cost paper), and the places that hold it. Part of the report of `explain`. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "graph/breakdown.h"
#include "program/program.h"
#include "report/page.h"
#include "simulate/sampled_multisim.h"
#include "simulate/simulate.h"

enum { WHAT_IF_PLACES = 2 };

/* A function that has some of a cause's cycles. Names are the program's and the code's. */
struct what_if_place {
    double share; /* of the cause's cycles */
    const char *function, *image;
    uint64_t offset;                /* of the function in the image */
    const char *file;               /* NULL: not known */
    uint32_t first_line, last_line; /* that have most of it; 0: not known */
};

struct what_if {
    struct sampled_multisim_result sample;
    struct multisim_run_cycles run;
    bool interval_unknown;      /* regions are missing, which are not those that chance chose */
    struct breakdown breakdown; /* of the sample, for the whole run; `cycles` NULL: none */
    /* By category, dearest first: where cycles have its events. Of a category without events
     * (latencies, bandwidth, window): none. */
    struct what_if_place places[MULTISIM_CATEGORIES][WHAT_IF_PLACES];
    uint32_t place_count[MULTISIM_CATEGORIES];
};

/* what_if_free() either way. */
bool what_if_build(const struct sampled_multisim_result *sample,
                   const struct simulation *simulation, const struct code *code,
                   struct program *program, struct what_if *what_if, struct error *error);
void what_if_free(struct what_if *what_if);

/* Fills `places` and `place_count` (what_if_places.c). */
bool what_if_find_places(struct what_if *what_if, const struct simulation *simulation,
                         const struct code *code, struct program *program, struct error *error);

/* Nothing when nothing was measured, or nothing costs 1 % of the time. */
void what_if_text(const struct what_if *what_if, const struct page *page);
/* The three that cost most, on one line. */
void what_if_brief(const struct what_if *what_if, const struct page *page);
/* A new value, null when nothing was measured (docs/json.md); NULL: out of memory. */
json_t *what_if_json(const struct what_if *what_if);
