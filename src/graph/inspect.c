/* One fragment at a time: its node times, then whatever walks over them. */
#include "graph/inspect.h"

#include <stdlib.h>

struct inspector {
    const struct graph_machine *machine;
    const struct inspection_options *options;
    struct inspection *inspection;
    struct load_tally tally;
    struct graph_evaluation *evaluation;
    struct graph_nodes *earliest, *latest; /* of the fragment's µops */
};

static bool inspect_fragment(struct inspector *inspector, const struct graph_fragment *fragment,
                             struct error *error) {
    struct inspection *inspection = inspector->inspection;
    const struct graph_nodes *earliest = inspector->earliest;
    graph_fragment_times(inspector->evaluation, fragment, inspector->earliest);
    inspection->cycles += earliest[fragment->count - 1].commit;
    if (!critical_add(&inspection->critical, inspector->machine, fragment, earliest, error))
        return false;
    if (inspector->options->slack) {
        slack_latest(inspector->machine, fragment, earliest, inspector->latest);
        if (!slack_add(&inspection->slack, fragment, earliest, inspector->latest, error))
            return false;
    }
    return !inspector->options->loads ||
           load_tally_add(&inspector->tally, inspector->machine, fragment, earliest, error);
}

static bool inspect_all(struct inspector *inspector, const struct graph_fragments *fragments,
                        struct error *error) {
    struct inspection *inspection = inspector->inspection;
    for (uint32_t i = 0; i < inspection->fragments; i++) {
        struct graph_fragment fragment = graph_fragments_get(fragments, i);
        if (!inspect_fragment(inspector, &fragment, error))
            return false;
    }
    return !inspector->options->loads ||
           load_costs_measure(inspector->machine, fragments, &inspector->tally,
                              &inspection->critical, inspector->options->loads, &inspection->loads,
                              error);
}

static uint32_t longest(const struct graph_fragments *fragments) {
    uint32_t most = 1;
    for (uint32_t i = 0; i < graph_fragments_count(fragments); i++) {
        uint32_t count = graph_fragments_get(fragments, i).count;
        most = count > most ? count : most;
    }
    return most;
}

bool inspect(const struct graph_machine *machine, const struct graph_fragments *fragments,
             const struct inspection_options *options, struct inspection *inspection,
             struct error *error) {
    uint32_t most = longest(fragments);
    *inspection = (struct inspection){.seen = graph_fragments_seen(fragments),
                                      .kept = graph_fragments_kept(fragments),
                                      .fragments = graph_fragments_count(fragments)};
    struct inspector inspector = {.machine = machine,
                                  .options = options,
                                  .inspection = inspection,
                                  .evaluation = graph_evaluation_new(machine, 0),
                                  .earliest = malloc(most * sizeof *inspector.earliest),
                                  .latest = malloc(most * sizeof *inspector.latest)};
    bool good = inspector.evaluation && inspector.earliest && inspector.latest;
    good = good ? inspect_all(&inspector, fragments, error)
                : error_set(error, "out of memory for the fragments of the graph");
    load_tally_free(&inspector.tally);
    graph_evaluation_free(inspector.evaluation);
    free(inspector.earliest);
    free(inspector.latest);
    return good;
}

void inspection_free(struct inspection *inspection) {
    critical_free(&inspection->critical);
    slack_free(&inspection->slack);
}
