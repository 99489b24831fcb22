/* An open hash table of cells, and an array of events by instruction. */
#include "core/stall_causes.h"

#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/order.h"

enum { FIRST_CAPACITY = 1024 };

struct stall_causes {
    struct stall_cell *cells; /* cycles 0: free */
    size_t used, capacity;    /* a power of two */
    struct stall_events *events;
    size_t event_count, event_capacity; /* instructions */
    bool failed;
};

const char *stall_cause_name(enum stall_cause cause) {
    static const char *const names[STALL_CAUSES] = {
        [STALL_NONE] = "issue",
        [STALL_SLOT] = "slotting",
        [STALL_DEPENDENCE] = "dependence",
        [STALL_UNIT] = "unit busy",
        [STALL_FETCH] = "taken branch",
        [STALL_IMISS] = "I-cache miss",
        [STALL_ITLB] = "ITLB miss",
        [STALL_DMISS] = "D-cache miss",
        [STALL_DTLB] = "DTLB miss",
        [STALL_MISS_REGISTERS] = "miss registers",
        [STALL_WRITE_BUFFER] = "write buffer",
        [STALL_MISPREDICT] = "branch mispredict",
        [STALL_SYNCHRONISATION] = "synchronisation",
    };
    return names[cause];
}

const char *stall_cause_key(enum stall_cause cause) {
    static const char *const keys[STALL_CAUSES] = {
        [STALL_NONE] = "issue",
        [STALL_SLOT] = "slotting",
        [STALL_DEPENDENCE] = "dependence",
        [STALL_UNIT] = "unit",
        [STALL_FETCH] = "taken",
        [STALL_IMISS] = "imiss",
        [STALL_ITLB] = "itlbmiss",
        [STALL_DMISS] = "dmiss",
        [STALL_DTLB] = "dtlbmiss",
        [STALL_MISS_REGISTERS] = "registers",
        [STALL_WRITE_BUFFER] = "writebuffer",
        [STALL_MISPREDICT] = "branchmp",
        [STALL_SYNCHRONISATION] = "synchronisation",
    };
    return keys[cause];
}

const char *stall_event_name(enum stall_event event) {
    static const char *const names[STALL_EVENTS] = {
        [EVENT_IMISS] = "imiss",   [EVENT_ITLB] = "itlbmiss",       [EVENT_DMISS] = "dmiss",
        [EVENT_DTLB] = "dtlbmiss", [EVENT_MISPREDICT] = "branchmp", [EVENT_TAKEN] = "taken"};
    return names[event];
}

struct stall_causes *stall_causes_new(void) {
    struct stall_causes *causes = calloc(1, sizeof *causes);
    if (causes) {
        causes->capacity = FIRST_CAPACITY;
        causes->cells = calloc(causes->capacity, sizeof *causes->cells);
    }
    if (causes && causes->cells)
        return causes;
    free(causes);
    return NULL;
}

void stall_causes_free(struct stall_causes *causes) {
    if (causes) {
        free(causes->cells);
        free(causes->events);
    }
    free(causes);
}

static struct stall_cell *find(struct stall_cell *cells, size_t capacity, uint32_t insn,
                               uint32_t cause, uint32_t culprit) {
    uint64_t hash =
        (insn * UINT64_C(0x9e3779b97f4a7c15)) ^ (culprit * UINT64_C(0xc2b2ae3d27d4eb4f)) ^ cause;
    for (size_t i = (hash ^ hash >> 29) & (capacity - 1);; i = (i + 1) & (capacity - 1)) {
        struct stall_cell *cell = &cells[i];
        if (cell->cycles == 0 ||
            (cell->insn == insn && cell->cause == cause && cell->culprit == culprit))
            return cell;
    }
}

static bool grow(struct stall_causes *causes) {
    size_t capacity = causes->capacity * 2;
    struct stall_cell *cells = calloc(capacity, sizeof *cells);
    if (!cells)
        return false;
    for (size_t i = 0; i < causes->capacity; i++) {
        const struct stall_cell *cell = &causes->cells[i];
        if (cell->cycles)
            *find(cells, capacity, cell->insn, cell->cause, cell->culprit) = *cell;
    }
    free(causes->cells);
    causes->cells = cells;
    causes->capacity = capacity;
    return true;
}

void stall_causes_add(struct stall_causes *causes, uint32_t insn, enum stall_cause cause,
                      uint32_t culprit, uint64_t cycles) {
    if (!causes || causes->failed || cycles == 0)
        return;
    struct stall_cell *cell = find(causes->cells, causes->capacity, insn, cause, culprit);
    if (cell->cycles == 0) {
        *cell = (struct stall_cell){insn, culprit, cause, 0};
        causes->used++;
    }
    cell->cycles += cycles;
    if (causes->used * 2 > causes->capacity)
        causes->failed = !grow(causes);
}

/* A table that grew large is replaced by a small one, since clearing it takes long. */
void stall_causes_clear_cycles(struct stall_causes *causes) {
    struct stall_cell *small =
        causes->capacity > FIRST_CAPACITY ? calloc(FIRST_CAPACITY, sizeof *small) : NULL;
    if (small) {
        free(causes->cells);
        causes->cells = small;
        causes->capacity = FIRST_CAPACITY;
    } else {
        memset(causes->cells, 0, causes->capacity * sizeof *causes->cells);
    }
    causes->used = 0;
}

/* Forgets all cycles and events, and that memory ran out. */
static void stall_causes_clear(struct stall_causes *causes) {
    stall_causes_clear_cycles(causes);
    causes->event_count = 0;
    causes->failed = false;
}

static bool reach(struct stall_causes *causes, size_t count) {
    if (!array_reserve((void **)&causes->events, &causes->event_capacity, count,
                       sizeof *causes->events))
        return false;
    memset(causes->events + causes->event_count, 0,
           (count - causes->event_count) * sizeof *causes->events);
    causes->event_count = count;
    return true;
}

void stall_causes_count(struct stall_causes *causes, uint32_t insn, enum stall_event event) {
    if (!causes || causes->failed)
        return;
    if (insn >= causes->event_count)
        causes->failed = !reach(causes, (size_t)insn + 1);
    if (!causes->failed)
        causes->events[insn].times[event]++;
}

bool stall_causes_move(struct stall_causes *to, struct stall_causes *from, uint64_t weight) {
    to->failed |= from->failed;
    for (size_t i = 0; i < from->capacity; i++) {
        const struct stall_cell *cell = &from->cells[i];
        stall_causes_add(to, cell->insn, cell->cause, cell->culprit, cell->cycles * weight);
    }
    if (!to->failed && from->event_count > to->event_count)
        to->failed = !reach(to, from->event_count);
    for (size_t i = 0; i < from->event_count && !to->failed; i++)
        for (int event = 0; event < STALL_EVENTS; event++)
            to->events[i].times[event] += from->events[i].times[event] * weight;
    stall_causes_clear(from);
    return !to->failed;
}

ORDER(compare, struct stall_cell, ascending(a->insn, b->insn) ?: ascending(a->cause, b->cause) ?:
           ascending(a->culprit, b->culprit))

struct stall_cell *stall_causes_cells(const struct stall_causes *causes, size_t *count) {
    struct stall_cell *cells = causes->failed ? NULL : malloc((causes->used + 1) * sizeof *cells);
    *count = 0;
    if (!cells)
        return NULL;
    for (size_t i = 0; i < causes->capacity; i++)
        if (causes->cells[i].cycles)
            cells[(*count)++] = causes->cells[i];
    qsort(cells, *count, sizeof *cells, compare);
    return cells;
}

const struct stall_events *stall_causes_events(const struct stall_causes *causes, size_t *count) {
    *count = causes->event_count;
    return causes->events;
}
