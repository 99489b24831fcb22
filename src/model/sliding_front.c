/* See sliding_front.h. A store that is no event leaves the queue when it has committed and those
 * before it have left; where so many stores as the queue holds lie further apart than the reorder
 * buffer reaches, that says nothing that the reorder buffer does not. */
#include "model/sliding_front.h"

#include <math.h>
#include <stdlib.h>

#include "model/data_event.h"

bool front_start(struct front *front, uint32_t rob, uint32_t store_queue, uint64_t reach) {
    *front = (struct front){.rob = rob, .store_queue = store_queue, .reach = reach};
    front->departures = malloc((reach + FRONT_EVENTS) * sizeof *front->departures);
    return front->departures;
}

void front_free(struct front *front) {
    free(front->departures);
}

/* Where a store lies that is dispatched between the last event and this one, or with it. */
static double store_position(const struct place *last, const struct place *place, uint32_t store) {
    const uint32_t between = place->stores - last->stores, after = store - last->stores;
    const double begin = last->position, end = place->position;
    return after < between ? begin + (end - begin) * after / between : end;
}

/* Stores up to an event enter the queue. */
static void depart(struct front *front, const struct places *places, uint64_t number) {
    static const struct place none = {0};
    const struct place *place = place_of(places, number);
    const struct place *last = number ? place_of(places, number - 1) : &none;
    const uint32_t stores = place->stores + (place->flags & DATA_STORE ? 1 : 0);
    for (; front->queued < number; front->queued++) {
        const struct place *leaving = place_of(places, front->queued);
        const uint32_t entering = leaving->stores + front->store_queue;
        const bool enters = (int32_t)(stores - entering) > 0;
        if (!enters && number - front->queued < front->reach)
            return;
        const double position = enters ? store_position(last, place, entering) : INFINITY;
        if (leaving->flags & DATA_STORE || position - leaving->position < front->rob)
            front->departures[front->departure_count++] =
                (struct departure){front->queued, number, position};
    }
}

void front_follow(struct front *front, const struct places *places, uint32_t count) {
    const uint64_t first = places->next - count;
    front->departure_count = 0;
    for (uint32_t k = 0; k < count; k++) {
        const double position = place_of(places, first + k)->position;
        while (front->head < first + k &&
               place_of(places, front->head)->position + front->rob <= position)
            front->head++;
        front->left[k] = front->head;
        if (front->store_queue)
            depart(front, places, first + k);
    }
}

void front_break(struct front *front, const struct places *places) {
    front->queued = places->next;
}
