/* Slots come from slabs, each as large as all before it together, so that a set of few blocks takes
 * little; they stay where they are until the reset. */
#include "trace/event_predictor.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"

enum { LEAST_SLAB = 64, MOST_SLAB = 1 << 14 /* slots */ };

static_assert(sizeof(struct event_slot) == 16, "four slots to a line");
static_assert((int)EVENT_CODE_BLOCK_SLOTS <= (int)MOST_SLAB, "what a block may have, a slab has");

void event_predictor_init(struct event_predictor *predictor) {
    memset(predictor, 0, sizeof *predictor);
}

void event_predictor_free(struct event_predictor *predictor) {
    array_free_each(predictor->slabs, predictor->slab_count);
    free(predictor->blocks);
    free(predictor->rooms);
}

void event_predictor_reset(struct event_predictor *predictor) {
    event_predictor_free(predictor);
    event_predictor_init(predictor);
}

static bool add_slab(struct event_predictor *predictor, size_t need) {
    size_t room = LEAST_SLAB;
    while (room < need || (room < predictor->slot_count && room < MOST_SLAB))
        room *= 2;
    struct event_slot *slab = aligned_alloc(EVENT_FIRST_SLOTS * sizeof *slab, room * sizeof *slab);
    if (!slab ||
        !array_push(predictor->slabs, predictor->slab_capacity, predictor->slab_count, slab)) {
        free(slab);
        return false;
    }
    predictor->slab_used = 0;
    predictor->slab_room = room;
    return true;
}

/* Room for the first slots of a block, or twice as many as it has. */
static bool grow_block(struct event_predictor *predictor, uint32_t block) {
    const struct event_slot *before = predictor->blocks[block];
    const size_t old = predictor->rooms[block], room = before ? 2 * old : EVENT_FIRST_SLOTS;
    if (predictor->slab_used + room > predictor->slab_room && !add_slab(predictor, room))
        return false;
    struct event_slot *slots = predictor->slabs[predictor->slab_count - 1] + predictor->slab_used;
    if (before)
        memcpy(slots, before, old * sizeof *slots);
    memset(slots + old, 0, (room - old) * sizeof *slots);
    predictor->slab_used += room;
    predictor->slot_count += room;
    predictor->blocks[block] = slots;
    predictor->rooms[block] = (uint16_t)room;
    return true;
}

struct event_slot *event_predictor_first(struct event_predictor *predictor, uint32_t block) {
    return grow_block(predictor, block) ? predictor->blocks[block] : NULL;
}

/* After the last slot of a block: the first of more, or the last slot once more. */
struct event_slot *event_predictor_more(struct event_predictor *predictor, uint32_t block) {
    uint32_t index = predictor->rooms[block];
    if (index == EVENT_CODE_BLOCK_SLOTS)
        index--;
    else if (!grow_block(predictor, block))
        return NULL;
    return predictor->blocks[block] + index;
}

struct event_place event_predictor_begin(struct event_predictor *predictor, uint32_t block_count) {
    const size_t need = (size_t)block_count + 1;
    struct event_place place = {0};
    if (array_zeroed_room(predictor->blocks, predictor->block_capacity, need) &&
        array_zeroed_room(predictor->rooms, predictor->room_capacity, need))
        place.slot = event_predictor_enter(predictor, 0);
    return place;
}
