/* Almost all records are commits without a wait before them and without events: these take a count
 * and a look at the signatures, no more. */
#include "attribute/commit_summary.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "attribute/pics.h"
#include "attribute/profile_error.h"
#include "attribute/span.h"
#include "util/array.h"

/* The cycles of one instruction in which nothing committed, by category: a cache line. */
struct waits {
    uint64_t cycles[CATEGORY_COUNT + 1];
};
static_assert(sizeof(struct waits) == 64 && CATEGORY_EXECUTE == 0, "a cache line");

struct commit_observer {
    uint64_t categories[CATEGORY_COUNT];
    uint64_t executions;
    uint64_t stalls[STALL_LENGTHS];
    struct waits *waits; /* by instruction */
    size_t wait_capacity;
    struct pics *events;
};

const char *commit_category_name(enum commit_category category) {
    static const char *const names[CATEGORY_COUNT] = {"execute",     "alu_stall", "load_stall",
                                                      "store_stall", "front_end", "mispredict",
                                                      "misc_flush"};
    return (unsigned)category < CATEGORY_COUNT ? names[category] : "?";
}

const char *program_class_name(enum program_class program_class) {
    static const char *const names[] = {"compute", "flush", "stall"};
    return program_class <= CLASS_STALL ? names[program_class] : "?";
}

enum program_class program_class_of(const uint64_t categories[CATEGORY_COUNT]) {
    const double total = sum_over(double, i, CATEGORY_COUNT, (double)categories[i]);
    double flushed = (double)categories[CATEGORY_MISPREDICT] + (double)categories[CATEGORY_FLUSH];
    return (double)categories[CATEGORY_EXECUTE] > 0.5 * total ? CLASS_COMPUTE
           : flushed > 0.03 * total                           ? CLASS_FLUSH
                                                              : CLASS_STALL;
}

struct commit_observer *commit_observer_new(void) {
    struct commit_observer *observer = calloc(1, sizeof *observer);
    if (!observer)
        return NULL;
    observer->events = pics_new();
    if (observer->events)
        return observer;
    commit_observer_free(observer);
    return NULL;
}

void commit_observer_free(struct commit_observer *observer) {
    if (!observer)
        return;
    if (observer->events)
        pics_free(observer->events);
    free(observer->waits);
    free(observer);
}

/* ---- the tap ---- */

static enum commit_category stall_category(uint64_t uop) {
    uint32_t flags = tap_uop_flags(uop);
    return flags & TAP_UOP_LOAD    ? CATEGORY_LOAD_STALL
           : flags & TAP_UOP_STORE ? CATEGORY_STORE_STALL
                                   : CATEGORY_ALU_STALL;
}

static enum commit_category empty_category(const struct tap_record *record, uint64_t last) {
    switch (record->flags & TAP_EMPTY_MASK) {
    case TAP_DRAINED:
        return CATEGORY_FRONT_END;
    case TAP_FLUSHED_LAST:
        return tap_uop_psv(last) & PSV_FL_MB ? CATEGORY_MISPREDICT : CATEGORY_FLUSH;
    default:
        return CATEGORY_FLUSH;
    }
}

static inline bool add_wait(struct commit_observer *observer, enum commit_category category,
                            uint64_t uop, uint64_t cycles) {
    uint32_t insn = tap_uop_insn(uop);
    if (!array_zeroed_room(observer->waits, observer->wait_capacity, (size_t)insn + 1))
        return false;
    observer->categories[category] += cycles;
    observer->waits[insn].cycles[category] += cycles;
    return true;
}

/* Adds the cycles without a commit that a record closes. */
static bool take_wait(struct commit_observer *observer, const struct tap_record *record,
                      const struct span *span, uint64_t last) {
    uint64_t next = record->uops[0];
    bool room = true;
    if (span->empty)
        room &=
            add_wait(observer, empty_category(record, last), span->last ? last : next, span->empty);
    if (!span->stalled)
        return room;
    if (!tap_uop_psv(next))
        observer->stalls[span->stalled < STALL_LENGTHS ? span->stalled : STALL_LENGTHS - 1]++;
    return room & add_wait(observer, stall_category(next), next, span->stalled);
}

static inline bool count_events(struct commit_observer *observer, const struct tap_record *record) {
    uint64_t all = 0;
    bool room = true;
    for (unsigned i = 0; i < record->count; i++)
        all |= record->uops[i];
    if (!tap_uop_psv(all))
        return true;
    for (unsigned i = 0; i < record->count; i++)
        if (tap_uop_psv(record->uops[i]))
            room &= pics_add(observer->events, tap_uop_insn(record->uops[i]),
                             tap_uop_psv(record->uops[i]), 1);
    return room;
}

static bool consume(void *context, const struct tap_buffer *buffer, struct error *error) {
    struct commit_observer *observer = context;
    bool room = true;
    for (struct closings at = closings_of(buffer); closings_next(&at);) {
        if (at.span.empty | at.span.stalled)
            room &= take_wait(observer, &at.record, &at.span, at.last_uop);
        if (at.record.kind == TAP_FLUSH)
            continue;
        observer->categories[CATEGORY_EXECUTE]++;
        observer->executions += at.record.count;
        room &= count_events(observer, &at.record);
    }
    return room || error_set(error, "out of memory for the summary of commits");
}

struct tap_worker commit_observer_worker(struct commit_observer *observer) {
    return (struct tap_worker){.name = "commit summary", .consume = consume, .context = observer};
}

/* ---- results ---- */

/* The waits as cells, sorted by instruction and category. */
static struct pics_cell *wait_cells(const struct commit_observer *observer, uint64_t *count) {
    uint64_t used = 0;
    for (size_t insn = 0; insn < observer->wait_capacity; insn++)
        for (uint32_t category = 1; category < CATEGORY_COUNT; category++)
            used += observer->waits[insn].cycles[category] != 0;
    struct pics_cell *cells = malloc((used ? used : 1) * sizeof *cells);
    *count = 0;
    for (size_t insn = 0; cells && insn < observer->wait_capacity; insn++)
        for (uint32_t category = 1; category < CATEGORY_COUNT; category++)
            if (observer->waits[insn].cycles[category])
                cells[(*count)++] = (struct pics_cell){
                    (uint32_t)insn, category, observer->waits[insn].cycles[category] * CYCLE_UNITS};
    return cells;
}

bool commit_observer_summary(const struct commit_observer *observer,
                             struct commit_summary *summary) {
    memset(summary, 0, sizeof *summary);
    memcpy(summary->categories, observer->categories, sizeof summary->categories);
    memcpy(summary->stalls, observer->stalls, sizeof summary->stalls);
    summary->executions = observer->executions;
    summary->waits = wait_cells(observer, &summary->wait_count);
    summary->events = pics_cells(observer->events, &summary->event_count);
    return summary->waits && summary->events;
}

void commit_summary_free(struct commit_summary *summary) {
    free(summary->waits);
    free(summary->events);
    memset(summary, 0, sizeof *summary);
}

struct event_share commit_summary_combined(const struct commit_summary *summary) {
    struct event_share share = {0, 0};
    for (uint64_t i = 0; i < summary->event_count; i++) {
        uint32_t psv = summary->events[i].psv;
        if (psv & PSV_ST_LLC)
            psv &= ~(uint32_t)PSV_ST_L1;
        share.any += summary->events[i].units;
        share.several += psv & (psv - 1) ? summary->events[i].units : 0;
    }
    return share;
}

uint32_t commit_summary_stall_quantile(const struct commit_summary *summary, double share) {
    uint64_t total = 0, below = 0;
    for (uint32_t length = 1; length < STALL_LENGTHS; length++)
        total += summary->stalls[length];
    if (!total)
        return 0;
    uint32_t length = 0;
    while (length + 1 < STALL_LENGTHS && (double)below < share * (double)total)
        below += summary->stalls[++length];
    return length;
}

/* The units with the event in the cells of one instruction, which begin at *at; moves *at past
 * them. */
static uint64_t sum_with(const struct pics_cell *cells, uint64_t count, uint64_t *at, uint32_t insn,
                         uint32_t event) {
    uint64_t sum = 0;
    for (; *at < count && cells[*at].insn <= insn; ++*at)
        if (cells[*at].insn == insn && cells[*at].psv & event)
            sum += cells[*at].units;
    return sum;
}

bool commit_summary_correlation(const struct commit_summary *summary,
                                const struct pics_cell *golden, uint64_t golden_count,
                                unsigned event, double *correlation, uint64_t *instructions) {
    uint64_t room = summary->event_count ? summary->event_count : 1;
    double *counts = malloc(room * sizeof *counts), *cycles = malloc(room * sizeof *cycles);
    bool good = counts && cycles;
    uint64_t n = 0, at = 0, golden_at = 0;
    while (good && at < summary->event_count) {
        uint32_t insn = summary->events[at].insn;
        uint64_t count = sum_with(summary->events, summary->event_count, &at, insn, 1u << event);
        uint64_t units = sum_with(golden, golden_count, &golden_at, insn, 1u << event);
        if (!count)
            continue;
        counts[n] = (double)count;
        cycles[n++] = (double)units / CYCLE_UNITS;
    }
    *instructions = n;
    *correlation = good ? pearson_correlation(counts, cycles, n) : NAN;
    free(counts);
    free(cycles);
    return good;
}
