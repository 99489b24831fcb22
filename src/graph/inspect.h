/* What fragments of a graph tell beyond costs of whole categories: critical path, slack, loads. */
#pragma once

#include "graph/critical.h"
#include "graph/loads.h"
#include "graph/slack.h"

/* What to find out. */
enum inspection_part { INSPECT_CRITICAL = 1, INSPECT_SLACK = 2, INSPECT_LOADS = 4 };

struct inspection_options {
    bool slack;
    uint32_t loads; /* at most so many; 0: none */
};

struct inspection {
    uint64_t seen, kept; /* µops of the whole run, and of the fragments */
    uint32_t fragments;
    int64_t cycles; /* of the fragments: the sum of their lengths */
    struct critical critical;
    struct slack slack;      /* empty unless asked for */
    struct load_costs loads; /* likewise */
};

/* Fills *inspection; inspection_free() either way. */
bool inspect(const struct graph_machine *machine, const struct graph_fragments *fragments,
             const struct inspection_options *options, struct inspection *inspection,
             struct error *error);
void inspection_free(struct inspection *inspection);
