/* A page of lines is found by a hash table, and most often by a small table in front of it, as a
 * TLB finds a translation. A line's word is the time of its last access, in events, above STAMP_*.
 *
 * Whether the inner levels had let a line go before it is accessed again is told by its reuse time
 * (memory/stack_distance.h).
 *
 * Code is stamped by the block, since that is what the events name: one store for each that is
 * entered. It becomes lines when they are asked for. */
#include "memory/stamps.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "memory/stack_distance.h"
#include "trace/event.h"
#include "util/arena.h"
#include "util/array.h"

enum { PAGE_LINES = 16, NEAR = 1024, FIRST_PLACES = 1 << 12 };
enum {
    STAMP_STORED = 1 << 0, /* at some time */
    STAMP_AGAIN = 1 << 1,  /* counts struct stamped_line's `again` */
    STAMP_SHIFT = 7,
    STAMP_FLAGS = (1 << STAMP_SHIFT) - 1
};
static_assert((STAMPED_AGAIN + 1) * (int)STAMP_AGAIN == 1 << STAMP_SHIFT, "the count has room");

struct stamped_page {
    uint64_t number; /* address / size of a page */
    uint64_t lines[PAGE_LINES];
};

struct stamps {
    uint32_t line_shift, page_shift;
    uint64_t time;               /* events so far */
    struct stack_distance inner; /* of the levels before the last one */
    struct {
        uint64_t number_plus_one;
        struct stamped_page *page;
    } near[NEAR];                 /* by number */
    struct stamped_page **places; /* open addressing; NULL: free */
    size_t place_count, page_count;
    struct arena pages;
    uint64_t *blocks; /* words like those of lines, by number; 0: never entered */
    size_t block_count, block_capacity;
};

struct stamps *stamps_new(uint32_t line_bytes, uint64_t inner) {
    struct stamps *stamps = calloc(1, sizeof *stamps);
    if (!stamps)
        return NULL;
    stamps->line_shift = (uint32_t)__builtin_ctz(line_bytes);
    stamps->page_shift = stamps->line_shift + (uint32_t)__builtin_ctz(PAGE_LINES);
    stack_distance_begin(&stamps->inner, inner);
    stamps->place_count = FIRST_PLACES;
    stamps->places = calloc(stamps->place_count, sizeof(struct stamped_page *));
    if (stamps->places)
        return stamps;
    free(stamps);
    return NULL;
}

void stamps_free(struct stamps *stamps) {
    if (!stamps)
        return;
    arena_free(&stamps->pages);
    free(stamps->places);
    free(stamps->blocks);
    free(stamps);
}

void stamps_clear(struct stamps *stamps) {
    arena_free(&stamps->pages);
    memset(stamps->places, 0, stamps->place_count * sizeof(struct stamped_page *));
    memset(stamps->near, 0, sizeof stamps->near);
    stamps->page_count = stamps->block_count = 0;
    stamps->time = 0;
    stack_distance_restart(&stamps->inner);
}

uint64_t stamps_events_seen(const struct stamps *stamps) {
    return stamps->time;
}

/* ---- pages ---- */

/* Where the page is, or would be. */
static struct stamped_page **place_of(struct stamped_page **places, size_t count, uint64_t number) {
    size_t place = (size_t)(number * 0x9e3779b97f4a7c15u >> 32) & (count - 1);
    while (places[place] && places[place]->number != number)
        place = (place + 1) & (count - 1);
    return &places[place];
}

static bool grow(struct stamps *stamps) {
    const size_t count = 2 * stamps->place_count;
    struct stamped_page **places = calloc(count, sizeof *places);
    if (!places)
        return false;
    for (size_t i = 0; i < stamps->place_count; i++)
        if (stamps->places[i])
            *place_of(places, count, stamps->places[i]->number) = stamps->places[i];
    free(stamps->places);
    stamps->places = places;
    stamps->place_count = count;
    return true;
}

/* NULL: out of memory. */
static __attribute__((noinline)) struct stamped_page *find_page(struct stamps *stamps,
                                                                uint64_t number) {
    struct stamped_page **place = place_of(stamps->places, stamps->place_count, number);
    if (!*place) {
        if (2 * stamps->page_count >= stamps->place_count) {
            if (!grow(stamps))
                return NULL;
            place = place_of(stamps->places, stamps->place_count, number);
        }
        struct stamped_page *page = arena_alloc(&stamps->pages, sizeof *page);
        if (!page)
            return NULL;
        memset(page, 0, sizeof *page);
        page->number = number;
        *place = page;
        stamps->page_count++;
    }
    stamps->near[number % NEAR].number_plus_one = number + 1;
    stamps->near[number % NEAR].page = *place;
    return *place;
}

/* A line that was not accessed so far may have been just before the stretch: early in it that is
 * what is assumed. */
static __attribute__((noinline)) void sample(struct stamps *stamps, uint64_t word) {
    const struct stack_distance *inner = &stamps->inner;
    const uint64_t least = inner->limit == STACK_DISTANCE_NONE ? inner->lines : inner->limit;
    uint64_t reuse = stamps->time - (word >> STAMP_SHIFT);
    if (!word)
        reuse = stamps->time > least ? STACK_DISTANCE_NONE : 0;
    stack_distance_sample(&stamps->inner, stamps->time, reuse);
}

/* A line's word after an access now. `counts`, a constant where it is: those that come again. */
static inline uint64_t stamped(struct stamps *stamps, uint64_t word, bool counts) {
    uint64_t flags = word & STAMP_FLAGS;
    if (counts) {
        if (--stamps->inner.left == 0)
            sample(stamps, word);
        if (stamps->time - (word >> STAMP_SHIFT) > stamps->inner.limit && word &&
            flags < STAMPED_AGAIN * STAMP_AGAIN)
            flags += STAMP_AGAIN;
    }
    return stamps->time << STAMP_SHIFT | flags;
}

static inline bool stamp(struct stamps *stamps, uint64_t address, bool store, bool counts) {
    const uint64_t number = address >> stamps->page_shift;
    struct stamped_page *page = stamps->near[number % NEAR].page;
    if (stamps->near[number % NEAR].number_plus_one != number + 1 &&
        !(page = find_page(stamps, number)))
        return false;
    uint64_t *line = &page->lines[(address >> stamps->line_shift) % PAGE_LINES];
    *line = stamped(stamps, *line, counts) | store;
    return true;
}

/* ---- events ---- */

static bool stamp_span(struct stamps *stamps, uint64_t address, uint64_t bytes, bool store,
                       bool counts) {
    const uint64_t line_bytes = 1ull << stamps->line_shift;
    const uint64_t last = (address + bytes - 1) & ~(line_bytes - 1);
    uint64_t line = address & ~(line_bytes - 1);
    bool good = stamp(stamps, line, store, counts);
    for (; good && line < last; line += line_bytes)
        good = stamp(stamps, line + line_bytes, store, counts);
    return good;
}

static bool learn_blocks(struct stamps *stamps, uint32_t count) {
    if (count <= stamps->block_count)
        return true;
    if (!array_room(stamps->blocks, stamps->block_capacity, count))
        return false;
    memset(stamps->blocks + stamps->block_count, 0,
           (count - stamps->block_count) * sizeof *stamps->blocks);
    stamps->block_count = count;
    return true;
}

static inline __attribute__((always_inline)) bool
stamp_events(struct stamps *stamps, const uint64_t *events, uint32_t count, bool counts) {
    uint64_t access = 0; /* the last one, which MARK_SPAN is about */
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t event = events[i];
        bool good = true;
        stamps->time++;
        if (event < stamps->block_count) {
            stamps->blocks[event] = stamped(stamps, stamps->blocks[event], counts);
        } else if (event_kind(event) == EVENT_LOAD || event_kind(event) == EVENT_STORE) {
            const uint64_t address = event_address(event), bytes = 1ull << event_log2_size(event);
            const bool store = event_kind(event) == EVENT_STORE;
            access = event;
            good = stamp(stamps, address, store, counts);
            if ((address ^ (address + bytes - 1)) >> stamps->line_shift)
                good = good && stamp(stamps, address + bytes - 1, store, counts);
        } else if (event_kind(event) == EVENT_MARK && event_mark_kind(event) == MARK_SPAN) {
            const uint64_t bytes = event_payload(event) & ((1ull << 55) - 1);
            if (access && bytes && bytes < 1ull << 40)
                good = stamp_span(stamps, event_address(access), bytes,
                                  event_kind(access) == EVENT_STORE, counts);
        }
        if (!good)
            return false;
    }
    return true;
}

bool stamps_events(struct stamps *stamps, const uint64_t *events, uint32_t count,
                   uint32_t block_count) {
    return learn_blocks(stamps, block_count) &&
           (stamps->inner.lines ? stamp_events(stamps, events, count, true)
                                : stamp_events(stamps, events, count, false));
}

/* ---- lines ---- */

struct timed_lines {
    struct stamped_line *items;
    size_t count, capacity;
};

static bool add(struct timed_lines *lines, uint64_t word, uint64_t address, uint8_t kind) {
    if (!array_room(lines->items, lines->capacity, lines->count + 1))
        return false;
    const uint8_t again = (word & STAMP_FLAGS) / STAMP_AGAIN;
    lines->items[lines->count++] = (struct stamped_line){address, kind, again, word >> STAMP_SHIFT};
    return true;
}

static bool add_data(const struct stamps *stamps, struct timed_lines *lines) {
    for (size_t i = 0; i < stamps->place_count; i++) {
        const struct stamped_page *page = stamps->places[i];
        for (uint32_t k = 0; page && k < PAGE_LINES; k++)
            if (page->lines[k] &&
                !add(lines, page->lines[k],
                     page->number << stamps->page_shift | (uint64_t)k << stamps->line_shift,
                     page->lines[k] & STAMP_STORED ? STAMPED_STORE : STAMPED_LOAD))
                return false;
    }
    return true;
}

/* Of blocks that share a line, the one entered last counts: it comes last, and is a use like any.
 */
static bool add_code(const struct stamps *stamps, stamps_span *span, void *context,
                     struct timed_lines *lines) {
    const uint64_t line_bytes = 1ull << stamps->line_shift;
    for (uint32_t block = 0; block < stamps->block_count; block++) {
        uint64_t start, end;
        if (!stamps->blocks[block])
            continue;
        span(context, block, &start, &end);
        for (uint64_t line = start & ~(line_bytes - 1); line < end; line += line_bytes)
            if (!add(lines, stamps->blocks[block], line, STAMPED_CODE))
                return false;
    }
    return true;
}

/* By time, least significant digits first; lines of one time stay in order. */
static bool sort(struct timed_lines *lines, uint64_t most) {
    enum { BITS = 11, DIGITS = 1 << BITS };
    struct stamped_line *from = lines->items, *to = malloc((lines->count + 1) * sizeof *to);
    if (!to)
        return false;
    for (uint32_t shift = 0; shift < 64 && most >> shift; shift += BITS) {
        size_t starts[DIGITS + 1] = {0};
        for (size_t i = 0; i < lines->count; i++)
            starts[(from[i].time >> shift & (DIGITS - 1)) + 1]++;
        for (uint32_t digit = 0; digit < DIGITS; digit++)
            starts[digit + 1] += starts[digit];
        for (size_t i = 0; i < lines->count; i++)
            to[starts[from[i].time >> shift & (DIGITS - 1)]++] = from[i];
        struct stamped_line *sorted = to;
        to = from;
        from = sorted;
    }
    free(to);
    lines->items = from;
    return true;
}

struct stamped_line *stamps_lines(const struct stamps *stamps, stamps_span *span, void *context,
                                  size_t *count) {
    struct timed_lines lines = {0};
    *count = 0;
    if (!array_room(lines.items, lines.capacity, 1) || !add_data(stamps, &lines) ||
        !add_code(stamps, span, context, &lines) || !sort(&lines, stamps->time)) {
        free(lines.items);
        return NULL;
    }
    *count = lines.count;
    return lines.items;
}
