#include "memory/page_set.h"

#include <stdlib.h>
#include <string.h>

#include "util/random.h"

enum { FIRST_PLACES = 64 };

void page_set_free(struct page_set *set) {
    free(set->places);
    *set = (struct page_set){0};
}

/* Where the page is, or would be. */
static uint64_t *place_of(uint64_t *places, size_t count, uint64_t page) {
    size_t place = (size_t)random_mix(page) & (count - 1);
    while (places[place] && places[place] != page + 1)
        place = (place + 1) & (count - 1);
    return &places[place];
}

static bool grow(struct page_set *set) {
    const size_t count = set->place_count ? 2 * set->place_count : FIRST_PLACES;
    uint64_t *places = calloc(count, sizeof *places);
    if (!places)
        return false;
    for (size_t i = 0; i < set->place_count; i++)
        if (set->places[i])
            *place_of(places, count, set->places[i] - 1) = set->places[i];
    free(set->places);
    set->places = places;
    set->place_count = count;
    return true;
}

bool page_set_add(struct page_set *set, uint64_t page) {
    set->near[page % PAGE_SET_NEAR] = page + 1;
    if (set->full)
        return false;
    if (2 * set->count >= set->place_count && !grow(set)) {
        set->full = true;
        return false;
    }
    uint64_t *place = place_of(set->places, set->place_count, page);
    if (*place)
        return false;
    *place = page + 1;
    set->full = ++set->count == PAGE_SET_MOST;
    return true;
}

void page_set_copy(struct page_set *set, const struct page_set *from) {
    if (set->place_count != from->place_count) {
        page_set_free(set);
        set->places = from->place_count ? malloc(from->place_count * sizeof *set->places) : NULL;
    }
    set->place_count = set->places ? from->place_count : 0;
    set->count = set->places ? from->count : 0;
    set->full = from->full || (from->count && !set->places);
    memcpy(set->near, from->near, sizeof set->near);
    if (set->places)
        memcpy(set->places, from->places, set->place_count * sizeof *set->places);
}
