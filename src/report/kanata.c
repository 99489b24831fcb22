/* The log tells events in the order of cycles, life records come in the order of commit: those of
 * the window are kept, sorted by fetch (which gives the numbers the log wants: counted in order of
 * appearance), cut into events, and the events sorted by cycle. */
#include "report/kanata.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "isa/insn.h"
#include "memory/memory.h"
#include "util/array.h"
#include "util/order.h"

static const char OUT_OF_MEMORY[] = "out of memory for the pipeline picture (ask for fewer cycles)";

struct kanata {
    uint64_t from, cycles; /* `from`: KANATA_FIRST until that is known */
    struct life *lives;
    size_t count, capacity;
    bool out_of_memory;
};

struct kanata *kanata_new(uint64_t from, uint64_t cycles) {
    struct kanata *kanata = calloc(1, sizeof *kanata);
    if (kanata) {
        kanata->from = from;
        kanata->cycles = cycles;
    }
    return kanata;
}

void kanata_free(struct kanata *kanata) {
    if (!kanata)
        return;
    free(kanata->lives);
    free(kanata);
}

/* Last cycle in which anything is known of it. */
static uint64_t last_cycle(const struct life *life) {
    if (!(life->flags & LIFE_FLUSHED))
        return life->commit;
    uint64_t last = life->fetch;
    const uint64_t cycles[] = {life->dispatch, life->ready, life->issue, life->complete,
                               life->commit};
    for (size_t i = 0; i < sizeof cycles / sizeof *cycles; i++)
        if (cycles[i] > last && cycles[i] != UINT64_MAX) /* it did not come so far */
            last = cycles[i];
    return last;
}

static void keep(struct kanata *kanata, const struct life *life) {
    if (kanata->from == KANATA_FIRST)
        kanata->from = life->fetch; /* the oldest is neither squashed nor overtaken */
    if (last_cycle(life) < kanata->from ||
        (life->fetch > kanata->from && life->fetch - kanata->from >= kanata->cycles))
        return;
    if (!array_reserve((void **)&kanata->lives, &kanata->capacity, kanata->count + 1,
                       sizeof *kanata->lives)) {
        kanata->out_of_memory = true;
        return;
    }
    kanata->lives[kanata->count++] = *life;
}

static bool consume(void *context, const struct tap_buffer *buffer, struct error *error) {
    struct kanata *kanata = context;
    for (uint32_t i = 0; i < buffer->life_count; i++) {
        struct life life;
        life_unpack(&buffer->lives[i], &life);
        keep(kanata, &life);
    }
    return !kanata->out_of_memory || error_set(error, "%s", OUT_OF_MEMORY);
}

struct tap_worker kanata_worker(struct kanata *kanata) {
    return (struct tap_worker){
        .name = "kanata", .kinds = 1 << TAP_LIFE, .consume = consume, .context = kanata};
}

uint64_t kanata_count(const struct kanata *kanata) {
    return kanata->count;
}

/* ---- events ---- */

enum step { STEP_FETCH, STEP_DISPATCH, STEP_READY, STEP_ISSUE, STEP_COMPLETE, STEP_END };
static_assert((int)STEP_END == (int)KANATA_STAGES, "a stage for each step");

static const char *const STAGES[STEP_END] = {"F", "Ds", "Rd", "Ex", "Cm"};

struct event {
    uint64_t cycle;
    uint32_t row;
    uint8_t step;
    int8_t ends; /* the stage that this event ends; −1: none */
};

ORDER(by_fetch, struct life, ascending(a->fetch, b->fetch) ?: ascending(a->uop, b->uop))

ORDER(by_cycle, struct event, ascending(a->cycle, b->cycle) ?: ascending(a->row, b->row) ?: a->step - b->step)

/* The events of one µop; returns how many. A stage that lasts no cycle is left out, and so are
 * those that a squashed µop did not reach. */
static size_t events_of(const struct life *life, uint32_t row, struct event events[STEP_END + 1]) {
    const uint64_t begins[STEP_END + 1] = {life->fetch, life->dispatch, life->ready,
                                           life->issue, life->complete, last_cycle(life)};
    size_t count = 0;
    int8_t open = -1;
    uint64_t now = life->fetch;
    for (int step = 0; step <= STEP_END; step++) {
        uint64_t next = begins[STEP_END];
        for (int later = step + 1; later < STEP_END; later++)
            if (begins[later] >= begins[step] && begins[later] < next)
                next = begins[later];
        bool lasts = begins[step] >= now && begins[step] < next;
        if (step != STEP_FETCH && step != STEP_END && !lasts)
            continue;
        events[count++] = (struct event){begins[step], row, (uint8_t)step, open};
        open = (int8_t)step;
        now = begins[step];
    }
    return count;
}

void kanata_each(struct kanata *kanata, kanata_visitor *visit, void *context) {
    struct event events[STEP_END + 1];
    struct kanata_stage stages[KANATA_STAGES];
    if (kanata->count)
        qsort(kanata->lives, kanata->count, sizeof *kanata->lives, by_fetch);
    for (size_t i = 0; i < kanata->count; i++) {
        const size_t steps = events_of(&kanata->lives[i], 0, events);
        for (size_t k = 0; k + 1 < steps; k++)
            stages[k] =
                (struct kanata_stage){STAGES[events[k].step], events[k].cycle, events[k + 1].cycle};
        if (!visit(context, &kanata->lives[i], stages, steps - 1))
            return;
    }
}

/* ---- writing ---- */

static const char *level_name(uint8_t level) {
    static const char *const names[] = {"L1", "L2", "LLC", "DRAM"};
    return level <= LEVEL_DRAM ? names[level] : "?";
}

static void write_labels(const struct life *life, uint32_t row, const struct code *code,
                         FILE *file) {
    char text[96] = "?", events[128];
    uint64_t address = 0;
    if (life->insn < code->insn_count) {
        const struct static_insn *insn = &code->insns[life->insn];
        address = insn->address;
        static_insn_text(code->isa, insn, insn->address, text, sizeof text);
    }
    fprintf(file, "I\t%" PRIu32 "\t%" PRIu64 "\t0\n", row, life->insn_number);
    fprintf(file, "L\t%" PRIu32 "\t0\t%" PRIx64 ": %s", row, address, text);
    if (life->uop_index > 0 || !(life->flags & LIFE_LAST))
        fprintf(file, " (%u: %s)", life->uop_index, operation_name(life->operation));
    psv_format(life->psv, events, sizeof events);
    fprintf(file, "\nL\t%" PRIu32 "\t1\tinstruction %" PRIu64 ", events %s", row, life->insn_number,
            events);
    if (life->operation == OP_LOAD)
        fprintf(file, ", %s, %" PRIu32 " cycles in L1 and %" PRIu32 " beyond",
                life->flags & LIFE_FORWARDED ? "forwarded from a store"
                                             : level_name(life->memory_level),
                life->l1_latency, life->miss_latency);
    if (life->flags & LIFE_MISPREDICTED)
        fprintf(file, ", mispredicted");
    if (life->flags & LIFE_FUSED)
        fprintf(file, ", fused");
    fputc('\n', file);
}

/* Row of the µop that produced, the latest fetched before `row`; −1 when it is not in the window.
 */
static int64_t row_of(const struct kanata *kanata, uint64_t uop, size_t row) {
    while (row-- > 0) {
        if (kanata->lives[row].uop == uop)
            return (int64_t)row;
        if (kanata->lives[row].uop < uop && !(kanata->lives[row].flags & LIFE_FLUSHED))
            break;
    }
    return -1;
}

static void write_arrows(const struct kanata *kanata, const struct life *life, uint32_t row,
                         FILE *file) {
    for (int i = 0; i < UOP_MAX_SOURCES + 1; i++) {
        int64_t producer =
            life->producer[i] == UINT64_MAX ? -1 : row_of(kanata, life->producer[i], row);
        if (producer >= 0)
            fprintf(file, "W\t%" PRIu32 "\t%" PRId64 "\t0\n", row, producer);
    }
}

static void write_event(const struct kanata *kanata, const struct event *event,
                        const struct code *code, uint64_t *retired, FILE *file) {
    const struct life *life = &kanata->lives[event->row];
    if (event->step == STEP_FETCH)
        write_labels(life, event->row, code, file);
    if (event->ends >= 0)
        fprintf(file, "E\t%" PRIu32 "\t0\t%s\n", event->row, STAGES[event->ends]);
    if (event->step == STEP_ISSUE)
        write_arrows(kanata, life, event->row, file);
    if (event->step < STEP_END) {
        fprintf(file, "S\t%" PRIu32 "\t0\t%s\n", event->row, STAGES[event->step]);
        return;
    }
    bool flushed = life->flags & LIFE_FLUSHED;
    fprintf(file, "R\t%" PRIu32 "\t%" PRIu64 "\t%d\n", event->row, *retired, flushed);
    *retired += !flushed;
}

bool kanata_write(struct kanata *kanata, const struct code *code, FILE *file, struct error *error) {
    struct event *events = malloc((kanata->count * (STEP_END + 1) + 1) * sizeof *events);
    if (!events || kanata->out_of_memory) {
        free(events);
        return error_set(error, "%s", OUT_OF_MEMORY);
    }
    if (kanata->count)
        qsort(kanata->lives, kanata->count, sizeof *kanata->lives, by_fetch);
    size_t count = 0;
    for (uint32_t row = 0; row < kanata->count; row++)
        count += events_of(&kanata->lives[row], row, events + count);
    if (count)
        qsort(events, count, sizeof *events, by_cycle);
    const uint64_t empty = kanata->from == KANATA_FIRST ? 0 : kanata->from;
    uint64_t cycle = count ? events[0].cycle : empty, retired = 0;
    fprintf(file, "Kanata\t0004\nC=\t%" PRIu64 "\n", cycle);
    for (size_t i = 0; i < count; i++) {
        if (events[i].cycle > cycle)
            fprintf(file, "C\t%" PRIu64 "\n", events[i].cycle - cycle);
        cycle = events[i].cycle;
        write_event(kanata, &events[i], code, &retired, file);
    }
    free(events);
    return !ferror(file) || error_errno(error, "writing the pipeline picture");
}
