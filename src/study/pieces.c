#include "study/pieces.h"

#include "simulate/graph_keeper.h"
#include "util/clock.h"

bool pieces_start(struct pieces *pieces, const struct pieces_choice *choice,
                  const struct machine *machine, enum isa isa, struct error *error) {
    *pieces = (struct pieces){.choice = *choice};
    graph_machine_of(machine, &pieces->machine);
    pieces->keeper = graph_keeper_new(machine, isa, error);
    return pieces->keeper;
}

struct simulation_observer pieces_observer(struct pieces *pieces) {
    return graph_keeper_observer(pieces->keeper);
}

bool pieces_inspect(struct pieces *pieces, struct error *error) {
    const struct pieces_choice *choice = &pieces->choice;
    const struct inspection_options options = {
        .slack = choice->parts & INSPECT_SLACK,
        .loads = choice->parts & INSPECT_LOADS ? choice->loads : 0};
    double begun = clock_monotonic();
    bool good = inspect(&pieces->machine, graph_keeper_fragments(pieces->keeper), &options,
                        &pieces->inspection, error);
    graph_keeper_free(pieces->keeper);
    pieces->keeper = NULL;
    pieces->seconds = clock_monotonic() - begun;
    return good;
}

void pieces_free(struct pieces *pieces) {
    inspection_free(&pieces->inspection);
    graph_keeper_free(pieces->keeper);
    *pieces = (struct pieces){0};
}
