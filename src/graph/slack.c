/* The latest time of a node is the minimum, over the edges that leave it, of the latest time of the
 * edge's end less its weight. Edges are listed by the node they lead to, so the walk goes from the
 * last node back, and each node passes its latest time on to those that it waits for. */
#include "graph/slack.h"

#include <stdlib.h>

#include "graph/insn_rows.h"

void slack_latest(const struct graph_machine *machine, const struct graph_fragment *fragment,
                  const struct graph_nodes *nodes, struct graph_nodes *latest) {
    struct graph_edge edges[GRAPH_MOST_EDGES];
    int64_t length = nodes[fragment->count - 1].commit;
    for (uint32_t i = 0; i < fragment->count; i++)
        for (unsigned node = 0; node < NODE_COUNT; node++)
            latest[i].time[node] = length;
    for (uint32_t i = fragment->count; i-- > 0;)
        for (uint32_t k = graph_edges(machine, fragment, nodes, i, edges); k-- > 0;) {
            int64_t *source = &latest[edges[k].source].time[edges[k].from];
            int64_t time = latest[i].time[edges[k].to] - edges[k].weight;
            *source = time < *source ? time : *source;
        }
}

void slack_free(struct slack *slack) {
    free(slack->insns);
    *slack = (struct slack){0};
}

static void add_execution(struct slack *slack, uint32_t insn, uint64_t cycles) {
    struct slack_insn *row = &slack->insns[insn];
    row->least = row->executions && row->least < cycles ? row->least : cycles;
    row->sum += cycles;
    row->executions++;
    slack->executions++;
    slack->bins[slack_bin(cycles)]++;
}

bool slack_add(struct slack *slack, const struct graph_fragment *fragment,
               const struct graph_nodes *nodes, const struct graph_nodes *latest,
               struct error *error) {
    if (!insn_rows_reserve((void **)&slack->insns, &slack->count, &slack->capacity,
                           sizeof *slack->insns, fragment))
        return error_set(error, "out of memory for the slack of instructions");
    uint64_t least = UINT64_MAX;
    for (uint32_t i = fragment->count; i-- > 0;) {
        const struct graph_uop *uop = &fragment->uops[i];
        uint64_t cycles = (uint64_t)(latest[i].complete - nodes[i].complete);
        least = cycles < least ? cycles : least;
        if (uop->flags & GRAPH_FIRST) {
            add_execution(slack, uop->insn, least);
            least = UINT64_MAX;
        }
    }
    return true;
}
