/* Pieces of the dependence graph of a run, kept while it is simulated, and what they tell: critical
 * path, slack, loads. */
#pragma once

#include "graph/inspect.h"
#include "simulate/simulate.h"

struct pieces_choice {
    unsigned parts; /* enum inspection_part; 0: none */
    uint32_t loads;
};

struct graph_keeper;
struct pieces {
    struct pieces_choice choice;
    struct graph_machine machine;
    struct graph_keeper *keeper;  /* NULL: done with */
    struct inspection inspection; /* once they are looked at */
    double seconds;               /* that this took */
};

/* pieces_free() either way. */
bool pieces_start(struct pieces *pieces, const struct pieces_choice *choice,
                  const struct machine *machine, enum isa isa, struct error *error);
struct simulation_observer pieces_observer(struct pieces *pieces);
/* After the simulation, also an interrupted one. */
bool pieces_inspect(struct pieces *pieces, struct error *error);
void pieces_free(struct pieces *pieces);
