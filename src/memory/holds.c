/* A list in the order of their ends, from which what is over goes when it is full. Who asks looks
 * from the last end back to the cycle asked for: at what is held then or later. */
#include "memory/holds.h"

#include <stdlib.h>
#include <string.h>

bool holds_new(struct holds *holds, uint32_t places) {
    *holds = (struct holds){.capacity = 8 * places + 512, .places = places};
    return places == 0 || (holds->items = calloc(holds->capacity, sizeof *holds->items)) != NULL;
}

void holds_free(struct holds *holds) {
    free(holds->items);
}

void holds_clear(struct holds *holds) {
    holds->count = holds->full_count = 0;
    holds->full_from = holds->full_until = holds->length = 0;
}

/* Whoever asks from the full cycles on goes behind them; who comes before does not reach farther.
 */
static bool is_needed(const struct holds *holds, const struct hold *hold, uint64_t now) {
    const uint64_t reached = holds->full_from + (holds->any_order ? holds->length : 0);
    return hold->end > now && (hold->begin <= reached || hold->end > holds->full_until);
}

static void drop_over(struct holds *holds, uint64_t now) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < holds->count; i++)
        if (is_needed(holds, &holds->items[i], now))
            holds->items[kept++] = holds->items[i];
    holds->count = kept;
}

/* The hold that ends first gives way to another, when more are kept than ever have been. */
static void drop_first(struct holds *holds) {
    memmove(holds->items, holds->items + 1, --holds->count * sizeof *holds->items);
}

void holds_take(struct holds *holds, uint64_t begin, uint64_t end, uint64_t now) {
    if (holds->places == 0)
        return;
    if (holds->count >= holds->full_count || holds->count == holds->capacity) {
        drop_over(holds, now);
        holds->full_count = holds->count + 32;
    }
    if (holds->count == holds->capacity)
        drop_first(holds);
    uint32_t place = holds->count++;
    for (; place > 0 && holds->items[place - 1].end > end; place--)
        holds->items[place] = holds->items[place - 1];
    holds->items[place] = (struct hold){begin, end};
    holds->length = end - begin;
}

/* A hold that begins before that cycle is in the way of one that begins in this one. */
static uint64_t reach_from(const struct holds *holds, uint64_t cycle) {
    return holds->any_order ? cycle + 1 + holds->length : UINT64_MAX;
}

static bool is_full(const struct holds *holds, uint64_t cycle) {
    return holds->full_from <= cycle && cycle < holds->full_until;
}

static uint32_t held_at(const struct holds *holds, uint64_t cycle) {
    const uint64_t reach = reach_from(holds, cycle);
    uint32_t held = 0;
    for (uint32_t i = holds->count; i > 0 && holds->items[i - 1].end > cycle; i--)
        held += holds->items[i - 1].begin < reach;
    return held;
}

uint32_t holds_free_at(const struct holds *holds, uint64_t cycle, uint32_t enough) {
    if (holds->places == 0 || holds->count + enough <= holds->places)
        return is_full(holds, cycle) ? 0 : enough;
    if (is_full(holds, cycle))
        return 0;
    const uint32_t held = held_at(holds, cycle);
    const uint32_t left = held < holds->places ? holds->places - held : 0;
    return left < enough ? left : enough;
}

static void note_full(struct holds *holds, uint64_t from, uint64_t until) {
    const bool apart = from > holds->full_until || until < holds->full_from;
    if (apart && until < holds->full_until)
        return; /* the later ones are asked for more */
    holds->full_from = apart || from < holds->full_from ? from : holds->full_from;
    holds->full_until = until > holds->full_until ? until : holds->full_until;
}

uint64_t holds_next_end(struct holds *holds, uint64_t cycle) {
    if (is_full(holds, cycle))
        return holds->full_until;
    const uint64_t reach = reach_from(holds, cycle);
    uint64_t next = UINT64_MAX;
    uint32_t held = 0;
    for (uint32_t i = holds->count; i > 0 && holds->items[i - 1].end > cycle; i--) {
        if (holds->items[i - 1].begin >= reach)
            continue;
        next = holds->items[i - 1].end;
        held++;
    }
    if (held >= holds->places)
        note_full(holds, cycle, next);
    return next;
}

uint64_t holds_first_free(struct holds *holds, uint64_t cycle) {
    while (holds_free_at(holds, cycle, 1) == 0)
        cycle = holds_next_end(holds, cycle);
    return cycle;
}
