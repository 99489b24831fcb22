#include "report/threads_report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "query/function_walk.h"
#include "report/report.h"
#include "report/short_name.h"
#include "report/upgrades.h"
#include "util/array.h"
#include "util/file_name.h"
#include "util/order.h"

#define LEAST_COST 0.05 /* of a cause that is named first */
#define BUSY_BUS   0.9  /* of the time that is waited for memory: then its bandwidth is a cause */

/* Of the functions inlined there the innermost that is not of the system's headers: a lock's guard,
 * say, is not where somebody locks. */
static void choose_frame(const struct location *location, struct thread_place *place) {
    const struct source_frame *inlined = location->inlined;
    for (uint32_t level = 0; level <= location->inline_count; level++) {
        const char *file = level ? inlined[level - 1].file : location->file;
        const bool outermost = level == location->inline_count;
        if (level && (!file || !strncmp(file, "/usr/", 5)))
            continue;
        place->function = outermost ? location->function : inlined[level].function;
        place->file = file;
        place->line = level ? inlined[level - 1].line : location->line;
        if (file && strncmp(file, "/usr/", 5) != 0)
            return;
    }
}

static struct thread_place place_of(const struct report *report, uint32_t insn) {
    const struct report_rows *rows = &report->functions;
    const struct code *code = rows->code;
    if (insn >= code->insn_count)
        return (struct thread_place){.known = false};
    const struct static_insn *at = &code->insns[insn];
    struct thread_place place = {
        .known = true, .image = code_image_name(code, at->image), .offset = at->offset};
    if (!code_image_is_file(code, at->image))
        return place;
    struct location location;
    program_locate(rows->program, rows->images[at->image], at->offset, &location);
    choose_frame(&location, &place);
    return place;
}

void thread_place_text(const struct thread_place *place, char *text, size_t size) {
    enum { NAME = 60 };
    char source[256] = "", name[4 * NAME + 1];
    if (place->file)
        snprintf(source, sizeof source, "%.200s:%" PRIu32, file_base_name(place->file),
                 place->line);
    else if (place->known)
        snprintf(source, sizeof source, "%.200s+0x%" PRIx64, place->image, place->offset);
    if (!place->known)
        snprintf(text, size, "not known");
    else if (place->function)
        snprintf(text, size, "%s (%s)", short_name(place->function, NAME, name, sizeof name),
                 source);
    else
        snprintf(text, size, "%s", source);
}

/* ---- causes ---- */

static const char *const KEYS[CAUSES] = {
    "none", "lock", "barrier", "event", "join", "coherence", "memory_bandwidth", "serial", "sleep"};

const char *thread_cause_key(enum thread_cause cause) {
    return KEYS[cause];
}

const char *wait_reason_name(enum together_reason reason) {
    static const char *const NAMES[] = {[WAIT_FOR_LOCK] = "lock",
                                        [WAIT_AT_BARRIER] = "barrier",
                                        [WAIT_FOR_EVENT] = "event",
                                        [WAIT_FOR_END] = "end",
                                        [WAIT_SPINNING] = "spin"};
    return NAMES[reason];
}

/* Share of all cycles that threads ran. */
static double share_of(const uint64_t units[COMPONENT_COUNT], enum component component) {
    const uint64_t all = sum_over(uint64_t, i, COMPONENT_COUNT, units[i]);
    return all ? (double)units[component] / (double)all : 0;
}

uint64_t threads_slept(const struct together_result *together) {
    return sum_over(uint64_t, i, together->thread_count,
                    together->courses[i].critical[COURSE_SLEEPING]);
}

/* Of the cores' time, that in which the critical path waits for a time to come: whatever else
 * threads do then does not matter. Less than half of it: not told. */
static double slept_through(const struct threads_report *threads) {
    const struct together_result *together = threads->together;
    const double slept = (double)threads_slept(together);
    const double share = together->cycles ? slept / (double)together->cycles : 0;
    return share >= 0.5 ? share * threads->speedup.cores : 0;
}

/* Loads that missed the last cache; and a full store queue, though what waits for it missed the TLB
 * or the L1 as well. */
static bool waits_for_memory(uint32_t psv) {
    const enum component component = component_of(psv);
    const bool store = component == COMPONENT_STORES || component == COMPONENT_TLB_MISS ||
                       component == COMPONENT_L1_MISS;
    return component == COMPONENT_LLC_MISS || (store && psv & PSV_DR_SQ);
}

/* Share of all cycles that threads ran. */
static double waited_for_memory(const struct stack *stack) {
    uint64_t waited = 0, all = 0;
    for (uint32_t i = 0; i < stack->count; i++) {
        all += stack->parts[i].units;
        waited += waits_for_memory(stack->parts[i].psv) ? stack->parts[i].units : 0;
    }
    return all ? (double)waited / (double)all : 0;
}

static void find_first(struct threads_report *threads, const struct stack *stack) {
    const double *parts = threads->speedup.parts;
    const double running = parts[SPEEDUP_RUNNING] + parts[SPEEDUP_COHERENCE];
    const double memory = running * waited_for_memory(stack);
    const bool busy = threads->bus * threads->speedup.cores > BUSY_BUS * memory;
    const double costs[CAUSES] = {
        [CAUSE_LOCK] = parts[SPEEDUP_LOCK],           [CAUSE_BARRIER] = parts[SPEEDUP_BARRIER],
        [CAUSE_EVENT] = parts[SPEEDUP_EVENT],         [CAUSE_JOIN] = parts[SPEEDUP_JOIN],
        [CAUSE_COHERENCE] = parts[SPEEDUP_COHERENCE], [CAUSE_MEMORY] = busy ? memory : 0,
        [CAUSE_SERIAL] = parts[SPEEDUP_NOTHING],      [CAUSE_SLEEP] = slept_through(threads)};
    for (unsigned cause = 0; cause < CAUSES && threads->speedup.cores; cause++) {
        const double cost = costs[cause] / threads->speedup.cores;
        if (cost >= LEAST_COST && cost > threads->cost) {
            threads->first = (enum thread_cause)cause;
            threads->cost = cost;
        }
    }
}

/* The static instruction with most cycles of coherence; UINT32_MAX: none has any. */
static uint32_t most_shared(const struct simulation *simulation) {
    uint64_t most = 0, units = 0;
    uint32_t best = UINT32_MAX;
    for (uint64_t i = 0; i < simulation->cell_count; i++) {
        const struct pics_cell *cell = &simulation->cells[i];
        if (i && cell->insn != simulation->cells[i - 1].insn)
            units = 0;
        if (component_of(cell->psv) == COMPONENT_COHERENCE)
            units += cell->units;
        if (units > most) {
            most = units;
            best = cell->insn;
        }
    }
    return best;
}

/* ---- waits ---- */

ORDER(by_places, struct wait_row,
      ascending(a->sum.reason, b->sum.reason) ?: ascending(a->sum.waiter, b->sum.waiter)
                                              ?: ascending(a->sum.other, b->sum.other)
                                              ?: descending(a->sum.cycles, b->sum.cycles)
                                              ?: ascending(a->sum.address, b->sum.address))
ORDER(by_cycles, struct wait_row,
      descending(a->sum.cycles, b->sum.cycles) ?: ascending(a->sum.waiter, b->sum.waiter)
                                               ?: ascending(a->sum.other, b->sum.other)
                                               ?: ascending(a->sum.reason, b->sum.reason))

static bool same_places(const struct together_wait *a, const struct together_wait *b) {
    return a->reason == b->reason && a->waiter == b->waiter && a->other == b->other;
}

/* A condition variable, say, has several words in memory that threads wait at. */
static bool merge_waits(struct threads_report *threads) {
    const struct together_result *together = threads->together;
    struct wait_row *rows = calloc(together->wait_count + 1, sizeof *rows);
    size_t count = 0;
    if (!rows)
        return false;
    for (size_t i = 0; i < together->wait_count; i++)
        rows[i] = (struct wait_row){.sum = together->waits[i], .objects = 1};
    qsort(rows, together->wait_count, sizeof *rows, by_places);
    for (size_t i = 0; i < together->wait_count; i++) {
        struct wait_row *row = count ? &rows[count - 1] : NULL;
        if (!row || !same_places(&row->sum, &rows[i].sum)) {
            rows[count++] = rows[i];
            continue;
        }
        row->objects++;
        row->sum.count += rows[i].sum.count;
        row->sum.cycles += rows[i].sum.cycles;
        row->sum.waking += rows[i].sum.waking;
        row->sum.passes += rows[i].sum.passes;
        row->sum.path_cycles += rows[i].sum.path_cycles;
    }
    qsort(rows, count, sizeof *rows, by_cycles);
    threads->waits = rows;
    threads->wait_count = count;
    return true;
}

/* ---- scaling ---- */

static void add_scale(struct threads_report *threads, uint32_t cores, uint64_t cycles,
                      const struct course_counts *counts, double coherence) {
    struct scale_row *row = &threads->scales[threads->scale_count++];
    *row = (struct scale_row){
        .cores = cores, .cycles = cycles, .speedup = speedup_of(counts, cores, coherence)};
    row->loss = SPEEDUP_COHERENCE;
    for (unsigned part = SPEEDUP_COHERENCE; part < SPEEDUP_PARTS; part++)
        if (row->speedup.parts[part] > row->speedup.parts[row->loss])
            row->loss = (enum speedup_part)part;
}

ORDER(by_cores, struct scale_row, ascending(a->cores, b->cores))

/* As of what is reported: by the dearest event of each signature. */
static double coherence_of(const uint64_t *units) {
    uint64_t by_component[COMPONENT_COUNT] = {0};
    for (uint32_t psv = 0; psv < PSV_COMBINATIONS; psv++)
        by_component[component_of(psv)] += units[psv];
    return share_of(by_component, COMPONENT_COHERENCE);
}

static void add_scales(struct threads_report *threads, double coherence) {
    const struct together_result *together = threads->together;
    if (!together->scale_count)
        return;
    for (uint32_t i = 0; i < together->scale_count; i++)
        if (together->scales[i].counts)
            add_scale(threads, together->scales[i].cores, together->scales[i].cycles,
                      together->scales[i].counts, coherence_of(together->scales[i].units));
    add_scale(threads, together->cores, together->cycles, together->counts, coherence);
    qsort(threads->scales, threads->scale_count, sizeof *threads->scales, by_cores);
}

/* ---- the whole ---- */

bool threads_report_build(const struct report *report, uint32_t top, struct threads_report *threads,
                          struct error *error) {
    const struct simulation *simulation = report->simulation;
    const struct together_result *together = &simulation->together;
    *threads = (struct threads_report){.together = NULL};
    if (!together->done || !together->counts)
        return true;
    uint64_t units[COMPONENT_COUNT];
    stack_components(&report->stack, units);
    *threads = (struct threads_report){.together = together,
                                       .ghz = report->machine->clock_ghz,
                                       .stack_cycles = simulation->cycles,
                                       .top = top};
    for (uint32_t i = 0; i < together->thread_count; i++) {
        const struct together_thread *thread = &together->threads[i];
        threads->known += thread->known;
        for (unsigned state = 0; state < THREAD_STATES; state++)
            threads->lives += thread->cycles[state];
    }
    threads->speedup =
        speedup_of(together->counts, together->cores, share_of(units, COMPONENT_COHERENCE));
    add_scales(threads, share_of(units, COMPONENT_COHERENCE));
    threads->bus = together->cycles ? memory_bus_cycles(report) / (double)together->cycles : 0;
    find_first(threads, &report->stack);
    if (!merge_waits(threads))
        return error_set(error, "out of memory for the report");
    for (size_t i = 0; i < threads->wait_count; i++) {
        threads->waits[i].waiter = place_of(report, threads->waits[i].sum.waiter);
        threads->waits[i].other = place_of(report, threads->waits[i].sum.other);
    }
    threads->shared = place_of(report, most_shared(simulation));
    return true;
}

void threads_report_free(struct threads_report *threads) {
    free(threads->waits);
    *threads = (struct threads_report){.together = NULL};
}
