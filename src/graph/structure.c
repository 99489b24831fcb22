/* A ring for each kind of µops. */
#include "graph/structure.h"

#include "graph/positions.h"
#include "tap/life.h"

struct graph_structure {
    uint32_t fetch_width, taken_branches, load_queue, store_queue;
    uint32_t int_registers, fp_registers; /* that renaming may hand out; 0: unlimited */
    uint32_t flag_registers;
    uint64_t number;    /* of the next µop */
    uint64_t load_hold; /* number + 1 of the last µop that held loads */
    uint64_t stop;      /* number + 1 of the last taken branch but taken_branches - 1 */
    bool serial_end;    /* the last µop was the last of a serialising one */
    struct positions insns, taken, loads, stores, int_writers, fp_writers, flag_writers;
};

struct graph_structure *graph_structure_new(const struct machine *machine, enum isa isa) {
    struct graph_structure *structure = calloc(1, sizeof *structure);
    if (!structure)
        return NULL;
    const struct machine_core *core = &machine->core;
    uint32_t integer = isa == ISA_X86_64 ? 16 : 32, fp = 32;
    structure->fetch_width = core->fetch_width;
    structure->taken_branches = core->taken_branches;
    /* A longer queue never holds up dispatch before the window does. */
    structure->load_queue = core->load_queue < core->rob ? core->load_queue : 0;
    structure->store_queue = core->store_queue;
    structure->int_registers = core->int_registers > integer ? core->int_registers - integer : 0;
    structure->fp_registers = core->fp_registers > fp ? core->fp_registers - fp : 0;
    structure->flag_registers = core->flag_registers ? core->flag_registers - 1 : 0;
    uint64_t stores = (uint64_t)core->store_queue * LIFE_STORES_BACK;
    if (positions_new(&structure->insns, core->fetch_width) &&
        positions_new(&structure->taken, core->taken_branches) &&
        positions_new(&structure->loads, core->load_queue) &&
        positions_new(&structure->stores, stores < GRAPH_FAR ? (uint32_t)stores : GRAPH_FAR) &&
        positions_new(&structure->int_writers, structure->int_registers) &&
        positions_new(&structure->fp_writers, structure->fp_registers) &&
        positions_new(&structure->flag_writers, structure->flag_registers))
        return structure;
    graph_structure_free(structure);
    return NULL;
}

void graph_structure_free(struct graph_structure *structure) {
    if (!structure)
        return;
    free(structure->insns.at);
    free(structure->taken.at);
    free(structure->loads.at);
    free(structure->stores.at);
    free(structure->int_writers.at);
    free(structure->fp_writers.at);
    free(structure->flag_writers.at);
    free(structure);
}

void graph_structure_begin(struct graph_structure *structure) {
    structure->number = structure->load_hold = structure->stop = 0;
    structure->serial_end = false;
    struct positions *all[] = {&structure->insns,       &structure->taken,
                               &structure->loads,       &structure->stores,
                               &structure->int_writers, &structure->fp_writers,
                               &structure->flag_writers};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        positions_begin(all[i]);
}

static void note_taken(struct graph_structure *structure, uint64_t number) {
    positions_add(&structure->taken, number);
    uint16_t back = positions_back(&structure->taken, number + 1, structure->taken_branches);
    structure->stop = back ? number + 2 - back : 0;
}

/* The distance to the µop that took one of `count` entries so many takings ago, whose entry the µop
 * takes over. 0: there is none, or no limit. */
static inline uint16_t take(struct positions *positions, uint64_t number, uint32_t count) {
    if (!count)
        return 0;
    uint16_t back = positions_back(positions, number, count);
    positions_add(positions, number);
    return back;
}

/* The later of two, which commits later: that one decides. 0: none. */
static inline uint16_t nearer(uint16_t one, uint16_t other) {
    return !one || (other && other < one) ? other : one;
}

void graph_structure_add(struct graph_structure *structure, struct graph_uop *uop,
                         unsigned traits) {
    uint64_t number = structure->number++;
    if (uop->flags & GRAPH_FIRST) {
        positions_add(&structure->insns, number);
        uop->fetch_width = positions_back(&structure->insns, number, structure->fetch_width + 1);
    }
    if (structure->stop)
        uop->fetch_taken = distance_to(number + 1, structure->stop);
    if (uop->flags & GRAPH_LOAD) {
        uop->load_entry = take(&structure->loads, number, structure->load_queue);
        if (structure->load_hold)
            uop->serial = distance_to(number + 1, structure->load_hold);
    } else if (uop->flags & GRAPH_STORE) {
        uop->store_entry = take(&structure->stores, number, structure->store_queue);
    }
    if (traits & TRAIT_INT_REGISTER)
        uop->int_register = take(&structure->int_writers, number, structure->int_registers);
    if (traits & TRAIT_FLAG_REGISTER)
        uop->int_register = nearer(
            uop->int_register, take(&structure->flag_writers, number, structure->flag_registers));
    if (traits & TRAIT_FP_REGISTER)
        uop->fp_register = take(&structure->fp_writers, number, structure->fp_registers);
    if (number && (traits & TRAIT_SERIAL || structure->serial_end))
        uop->serial = 1;
    structure->serial_end = traits & TRAIT_SERIAL_END;
    if (traits & TRAIT_HOLDS_LOADS)
        structure->load_hold = number + 1;
    if (uop->flags & GRAPH_TAKEN)
        note_taken(structure, number);
}

uint16_t graph_structure_store(const struct graph_structure *structure, uint32_t stores_back) {
    if (stores_back == 0 || stores_back > structure->stores.mask)
        return 0;
    return positions_back(&structure->stores, structure->number - 1, stores_back);
}
