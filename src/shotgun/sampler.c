/* µops are put together into instructions; an instruction ends with its last µop, or where another
 * begins (a compare with a load, whose other half is in the branch behind it). A compare all of
 * which is in the branch shows no µop; it is an instruction nevertheless, with no bits set.
 *
 * A detailed sample waits for the ten instructions behind it; then its context is complete. */
#include "shotgun/sampler.h"

#include <stdlib.h>

#include "util/array.h"

/* The signature sample under way. */
struct stretch {
    bool under_way;
    uint32_t start, count; /* static instruction; instructions so far */
    uint64_t *bits;
    uint32_t *path; /* `path` and `graph` only where the truth is wanted */
    struct graph_uop *graph;
    size_t graph_count, graph_capacity;
};

struct shotgun_sampler {
    struct shotgun_database *database;
    const struct places *places; /* NULL: no bit of the program counter is wanted */
    struct shotgun_truth *truth;
    uint64_t number; /* of the present instruction; instructions since the beginning */
    uint64_t next_sample, next_stretch;

    uint64_t uops_seen;
    uint32_t insns[GRAPH_FAR + 1]; /* static instructions of the latest µops */

    bool open; /* an instruction whose last µop is still to come: */
    uint32_t insn, uops;
    unsigned events;

    uint64_t context;             /* of the latest CONTEXT_SPAN instructions */
    uint64_t since;               /* instructions since the context was lost */
    struct shotgun_sample sample; /* under way, or with no µops */
    uint64_t sampled;             /* number of its instruction */
    struct shotgun_uop kept[SHOTGUN_INSN_UOPS];
    struct stretch stretch;
};

struct shotgun_sampler *shotgun_sampler_new(struct shotgun_database *database,
                                            const struct places *places,
                                            struct shotgun_truth *truth) {
    struct shotgun_sampler *sampler = calloc(1, sizeof *sampler);
    uint32_t length = database->options.length;
    if (!sampler)
        return NULL;
    sampler->database = database;
    sampler->places = database->options.pc_bit ? places : NULL;
    sampler->truth = truth;
    sampler->next_sample = shotgun_sample_gap(database);
    sampler->next_stretch = shotgun_skeleton_gap(database);
    sampler->stretch.bits = calloc(signature_words(length), sizeof(uint64_t));
    sampler->stretch.path = truth ? malloc(length * sizeof(uint32_t)) : NULL;
    if (sampler->stretch.bits && (!truth || sampler->stretch.path))
        return sampler;
    shotgun_sampler_free(sampler);
    return NULL;
}

void shotgun_sampler_free(struct shotgun_sampler *sampler) {
    if (!sampler)
        return;
    free(sampler->stretch.bits);
    free(sampler->stretch.path);
    free(sampler->stretch.graph);
    free(sampler);
}

/* ---- detailed samples ---- */

static bool sample_under_way(const struct shotgun_sampler *sampler) {
    return sampler->sample.uops_executed > 0;
}

/* Its first µop is there, and the context before it. */
static bool wants_sample(const struct shotgun_sampler *sampler) {
    return !sample_under_way(sampler) && sampler->number >= sampler->next_sample &&
           sampler->since >= CONTEXT_INSNS;
}

static uint32_t store_of(const struct shotgun_sampler *sampler, const struct graph_uop *uop) {
    if (uop->store == 0 || uop->store > sampler->uops_seen)
        return SHOTGUN_NONE;
    return sampler->insns[(sampler->uops_seen - uop->store) % (GRAPH_FAR + 1)];
}

static void keep_uop(struct shotgun_sampler *sampler, const struct graph_uop *uop) {
    struct shotgun_sample *sample = &sampler->sample;
    if (sample->uops_executed == 0) {
        *sample = (struct shotgun_sample){.insn = uop->insn, .target = SHOTGUN_NONE};
        sampler->sampled = sampler->number;
        sampler->next_sample = sampler->number + shotgun_sample_gap(sampler->database);
    }
    if (sample->uop_count < SHOTGUN_INSN_UOPS)
        sampler->kept[sample->uop_count++] = shotgun_observe(uop, store_of(sampler, uop));
    sample->uops_executed++;
}

/* Notes where the sampled instruction went. Every branch is recorded: the reader decides for which
 * the binary tells it. */
static void note_target(struct shotgun_sampler *sampler, uint32_t insn, bool fused) {
    struct shotgun_sample *sample = &sampler->sample;
    if (!sample_under_way(sampler) || sampler->number != sampler->sampled + 1 ||
        sample->target != SHOTGUN_NONE)
        return;
    sample->target = insn;
    sample->target_fused = fused;
}

static bool finish_sample(struct shotgun_sampler *sampler, struct error *error) {
    if (!sample_under_way(sampler) || sampler->number != sampler->sampled + CONTEXT_INSNS)
        return true;
    struct shotgun_sample sample = sampler->sample;
    sampler->sample.uops_executed = 0;
    sample.context = sampler->context;
    return shotgun_add_sample(sampler->database, &sample, sampler->kept, error);
}

/* ---- signature samples ---- */

/* Begins a stretch where the binary tells what is executed: not within a fused pair. */
static void begin_stretch(struct shotgun_sampler *sampler, const struct graph_uop *uop) {
    struct stretch *stretch = &sampler->stretch;
    if (stretch->under_way || sampler->number < sampler->next_stretch || uop->flags & GRAPH_FUSED)
        return;
    stretch->under_way = true;
    stretch->start = uop->insn;
    stretch->count = 0;
    stretch->graph_count = 0;
    sampler->next_stretch = sampler->number + shotgun_skeleton_gap(sampler->database);
}

static bool keep_graph(struct shotgun_sampler *sampler, const struct graph_uop *uop,
                       struct error *error) {
    struct stretch *stretch = &sampler->stretch;
    if (!stretch->under_way || !sampler->truth || !sampler->database->options.perfect)
        return true;
    return array_push(stretch->graph, stretch->graph_capacity, stretch->graph_count, *uop) ||
           error_set(error, "out of memory for a fragment of the graph");
}

static bool finish_stretch(struct shotgun_sampler *sampler, uint32_t insn, unsigned signature,
                           struct error *error) {
    struct stretch *stretch = &sampler->stretch;
    uint32_t length = sampler->database->options.length;
    if (!stretch->under_way)
        return true;
    if (stretch->path)
        stretch->path[stretch->count] = insn;
    signature_put(stretch->bits, stretch->count++, signature);
    if (stretch->count < length)
        return true;
    stretch->under_way = false;
    return shotgun_add_skeleton(sampler->database, stretch->start, stretch->bits, sampler->truth,
                                stretch->path, stretch->graph, stretch->graph_count, error);
}

/* ---- instructions ---- */

/* Bit 3 of the instruction that begins so many bytes before this one. */
static unsigned pc_signature(const struct shotgun_sampler *sampler, uint32_t insn,
                             uint32_t before) {
    if (!sampler->places)
        return 0;
    uint64_t address = place_of(sampler->places, insn)->address - before;
    return address >> (sampler->database->options.pc_bit - 1) & 1 ? SIGNATURE_PC : 0;
}

static bool finish_insn(struct shotgun_sampler *sampler, uint32_t insn, unsigned signature,
                        struct error *error) {
    sampler->context = context_push(sampler->context, signature);
    sampler->since++;
    sampler->open = false;
    sampler->database->instructions++;
    bool good = finish_sample(sampler, error) && finish_stretch(sampler, insn, signature, error);
    sampler->number++;
    return good;
}

static bool finish_open(struct shotgun_sampler *sampler, struct error *error) {
    uint32_t insn = sampler->insn;
    unsigned signature = signature_of(sampler->events) | pc_signature(sampler, insn, 0);
    return finish_insn(sampler, insn, signature, error);
}

static bool begin_insn(struct shotgun_sampler *sampler, const struct graph_uop *uop,
                       struct error *error) {
    if (sampler->open && !finish_open(sampler, error))
        return false;
    /* Nothing was seen of the pair so far: the compare comes here. */
    if (uop->flags & GRAPH_FUSED && uop->flags & GRAPH_FIRST) {
        note_target(sampler, uop->insn, true);
        uint32_t length = sampler->places ? place_of(sampler->places, uop->insn)->before : 0;
        if (!finish_insn(sampler, SHOTGUN_NONE, pc_signature(sampler, uop->insn, length), error))
            return false;
    }
    note_target(sampler, uop->insn, false);
    begin_stretch(sampler, uop);
    sampler->open = true;
    sampler->insn = uop->insn;
    sampler->events = 0;
    sampler->uops = 0;
    return true;
}

static bool take(struct shotgun_sampler *sampler, const struct graph_uop *uop,
                 struct error *error) {
    if ((!sampler->open || uop->insn != sampler->insn) && !begin_insn(sampler, uop, error))
        return false;
    if (sampler->uops == 0 ? wants_sample(sampler)
                           : sample_under_way(sampler) && sampler->sampled == sampler->number)
        keep_uop(sampler, uop);
    sampler->insns[sampler->uops_seen++ % (GRAPH_FAR + 1)] = uop->insn;
    sampler->uops++;
    sampler->events |= signature_events(uop);
    if (!keep_graph(sampler, uop, error))
        return false;
    return !(uop->flags & GRAPH_LAST) || finish_open(sampler, error);
}

/* Drops the samples under way, which cannot be finished. */
static void lose(struct shotgun_sampler *sampler) {
    sampler->open = sampler->stretch.under_way = false;
    sampler->sample.uops_executed = 0;
    sampler->since = 0;
    sampler->uops_seen = 0;
}

bool shotgun_sampler_take(struct shotgun_sampler *sampler, const struct graph_uop *uops,
                          uint32_t count, bool first, struct error *error) {
    if (first)
        lose(sampler);
    return all_where(i, count, take(sampler, &uops[i], error));
}
