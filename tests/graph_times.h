/* Whether the dependence graph of a program made by hand has the times of its simulation. */
#pragma once

#include "core_fixture.h"
#include "graph/build.h"
#include "graph/evaluate.h"

static inline bool keep_uops(void *context, const struct graph_uop *uops,
                             const struct packed_life *lives, uint32_t count, bool first,
                             struct error *error) {
    (void)lives, (void)first, (void)error;
    memcpy(context, uops, count * sizeof *uops);
    return true;
}

/* Simulates what was executed, at most a chunk of the graph. */
static inline void expect_graph_times(struct program_fixture *program,
                                      const struct machine *machine) {
    static struct graph_uop uops[GRAPH_CHUNK];
    const struct graph_sink sink = {keep_uops, uops};
    struct graph_machine graph;
    struct graph_builder *builder = graph_builder_new(machine, program->code.isa, &sink);
    struct tap_worker worker = graph_builder_worker(builder);
    program->worker = &worker;
    simulate_on(program, machine, 0, FIXTURE_DYNAMIC, NULL, NULL);
    program->worker = NULL;
    graph_machine_of(machine, &graph);
    struct graph_evaluation *evaluation = graph_evaluation_new(&graph, 0);
    for (uint32_t i = 0; i < program->life_count; i++) {
        const struct graph_nodes *nodes = graph_evaluate(evaluation, &uops[i]);
        const int64_t move = (int64_t)program->lives[0].fetch;
        assert_int_equal(nodes->execute + move, program->lives[i].issue);
        assert_int_equal(nodes->complete + move, program->lives[i].complete);
        assert_int_equal(nodes->commit + move, program->lives[i].commit);
    }
    graph_evaluation_free(evaluation);
    graph_builder_free(builder);
}
