/* A ring is as long as the edges from its nodes reach back. */
#include "graph/lanes/layout.h"
#include "util/power_of_two.h"

enum { PACKETS = 1024 }; /* commits that fetch may wait for */

static inline uint32_t smaller(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

static inline uint32_t larger(uint32_t a, uint32_t b) {
    return a > b ? a : b;
}

static struct lanes_ring ring(struct lanes_layout *layout, uint32_t rows) {
    struct lanes_ring ring = {layout->length, rows};
    /* Rows that are written together must not compete for the same lines of a cache. */
    layout->length += (rows + 5) * LANES_GROUP;
    return ring;
}

/* A ring is only as long as edges reach back, so that as much as possible stays in a cache. */
void lanes_layout_init(struct lanes_layout *layout, const struct graph_machine *machine,
                       uint32_t window) {
    layout->ideal = window != 0;
    const uint32_t most = machine->most_of_place;
    layout->window = window ? window : machine->window;
    layout->length = LANES_WEIGHTS * LANES_GROUP;
    layout->fetch = ring(layout, LANES_FETCHES);
    layout->dispatch = ring(layout, most * larger(machine->fetch_room, machine->dispatch_width));
    layout->execute = ring(layout, most * smaller(layout->window, machine->window));
    layout->complete = ring(layout, most * layout->window);
    /* Fetch may wait for commits farther back. */
    layout->commit = ring(layout, larger(most * larger(layout->window, machine->commit_width),
                                         layout->ideal ? 0 : PACKETS));
    layout->stores = ring(layout, LANES_STORES);
    layout->misses = ring(layout, LANES_MISSES);
    layout->written = ring(layout, power_of_two_from(machine->store_drain + 1));
    layout->left = ring(layout, 1);
    layout->groups_left = ring(
        layout, power_of_two_from(graph_more_entries(machine, window) / GRAPH_ENTRY_GROUP + 1));
    layout->large = layout->length * 4 > LANES_LARGE;
}

/* An offset that trails by a bandwidth edge starts that far before the end of its ring, and so
 * reaches the ring's first row at the first µop that has the edge. */
void lanes_layout_begin(struct lanes_layout *layout, const struct graph_machine *machine) {
    const struct lanes_ring rings[LANES_MOVING] = {
        layout->fetch,  layout->dispatch, layout->execute,  layout->complete,
        layout->commit, layout->dispatch, layout->dispatch, layout->commit};
    const uint32_t distances[LANES_MOVING] = {
        [5] = machine->fetch_room, machine->dispatch_width, machine->commit_width};
    uint32_t *at = (uint32_t *)&layout->at, *end = (uint32_t *)&layout->end;
    uint32_t *size = (uint32_t *)&layout->size;
    for (uint32_t i = 0; i < LANES_MOVING; i++) {
        size[i] = rings[i].rows * LANES_GROUP;
        end[i] = rings[i].base + size[i];
        at[i] = distances[i] ? end[i] - distances[i] * LANES_GROUP : rings[i].base;
    }
}
