/* Goes from instruction to instruction: chooses a sample, appends the instruction's µops, finds out
 * where it leads. Register producers come from a table of the last writers, kept along the
 * fragment; edges that would lead to before the fragment are left out. */
#include "shotgun/construct.h"

#include <stdlib.h>
#include <string.h>

#include "core/places.h"
#include "shotgun/infer.h"
#include "shotgun/match.h"
#include "util/array.h"
#include "util/random.h"

struct shotgun_constructor {
    const struct shotgun_database *database;
    const struct shotgun_code *code;
    const struct machine *machine;
    enum shotgun_design design;
    uint32_t length; /* instructions of a fragment */
    struct shotgun_index index;
    struct graph_structure *structure;
    uint64_t random;
    struct shotgun_fragment fragment;
    struct shotgun_inference inference; /* for what no sample tells */

    /* ---- along the fragment ---- */
    uint32_t insn;                     /* static instruction that comes next */
    uint64_t expected, expected_there; /* design 3: the context of that instruction, as far as the
                                          chosen samples tell */
    uint64_t writer[REG_COUNT];        /* of each register: number of the µop + 1 */
    bool fused;                        /* it is the branch of a pair whose compare came before */
    size_t *stores;                    /* their µops */
    size_t store_count, store_capacity;
    uint32_t *returns; /* addresses that calls pushed */
    uint32_t return_count;
};

struct shotgun_constructor *shotgun_constructor_new(const struct shotgun_database *database,
                                                    const struct shotgun_code *code,
                                                    const struct machine *machine,
                                                    enum shotgun_design design,
                                                    struct error *error) {
    struct shotgun_constructor *made = calloc(1, sizeof *made);
    uint32_t length = database->options.length;
    if (!made)
        return error_null(error, "out of memory for fragments of the graph");
    made->database = database;
    made->code = code;
    made->machine = machine;
    made->design = design;
    made->length = length;
    made->random = database->options.seed;
    made->structure = graph_structure_new(machine, code->code.isa);
    made->returns = malloc(length * sizeof *made->returns);
    made->fragment.path = malloc(length * sizeof *made->fragment.path);
    made->fragment.source = malloc(length);
    made->fragment.by_sample = malloc(length);
    if (!made->structure || !made->returns || !made->fragment.path || !made->fragment.source ||
        !made->fragment.by_sample)
        error_set(error, "out of memory for fragments of the graph");
    else if (shotgun_index_new(&made->index, database, code->code.insn_count, error)) {
        if (shotgun_inference_new(&made->inference, database, code, machine))
            return made;
        error_set(error, "out of memory for fragments of the graph");
    }
    shotgun_constructor_free(made);
    return NULL;
}

void shotgun_constructor_free(struct shotgun_constructor *constructor) {
    if (!constructor)
        return;
    shotgun_index_free(&constructor->index);
    shotgun_inference_free(&constructor->inference);
    graph_structure_free(constructor->structure);
    free(constructor->returns);
    free(constructor->stores);
    free(constructor->fragment.uops);
    free(constructor->fragment.path);
    free(constructor->fragment.source);
    free(constructor->fragment.by_sample);
    free(constructor);
}

/* ---- one µop ---- */

static uint16_t distance_to(const struct shotgun_constructor *constructor, uint64_t writer) {
    uint64_t distance = constructor->fragment.uop_count + 1 - writer;
    return writer && distance <= GRAPH_FAR ? (uint16_t)distance : 0;
}

/* Renames a µop with these operands. */
static void rename_uop(struct shotgun_constructor *constructor, const struct uop *operands,
                       struct static_uop *uop) {
    uint64_t *writer = constructor->writer, number = constructor->fragment.uop_count + 1;
    if (uop->copy) {
        for (uint32_t i = 0; i < operands->destination_count; i++)
            writer[operands->destination[i]] = writer[operands->source[0]];
        return;
    }
    if (!(uop->graph.flags & GRAPH_ELIMINATED)) {
        for (uint32_t i = 0; i < operands->source_count; i++)
            uop->graph.producer[i] = distance_to(constructor, writer[operands->source[i]]);
        if (uop->graph.flags & GRAPH_STORE && operands->data != REG_NONE)
            uop->graph.producer[UOP_MAX_SOURCES] = distance_to(constructor, writer[operands->data]);
    }
    for (uint32_t i = 0; i < operands->destination_count; i++)
        writer[operands->destination[i]] = number;
}

/* The distance that was observed, if the µop at that distance in this fragment is of such a
 * kind. */
static uint16_t distance_if(const struct shotgun_fragment *fragment, uint16_t distance,
                            uint32_t kinds) {
    if (distance == 0 || distance > fragment->uop_count)
        return 0;
    return fragment->uops[fragment->uop_count - distance].flags & kinds ? distance : 0;
}

/* The distance to a store, when the code between the two is not always as long as observed: of the
 * stores of the instruction (of all, if SHOTGUN_NONE) the one nearest to the distance observed. */
static uint16_t distance_to_store(const struct shotgun_constructor *constructor, uint16_t observed,
                                  uint32_t insn) {
    const struct shotgun_fragment *fragment = &constructor->fragment;
    uint64_t now = fragment->uop_count, nearest = UINT64_MAX, chosen = 0;
    if (observed == 0 || observed > now)
        return 0;
    uint64_t expected = now - observed;
    for (size_t i = constructor->store_count; i-- > 0;) {
        uint64_t at = constructor->stores[i];
        uint64_t off = at > expected ? at - expected : expected - at;
        if (at < expected && off > nearest)
            break;
        if (off < nearest && (insn == SHOTGUN_NONE || fragment->uops[at].insn == insn)) {
            nearest = off;
            chosen = now - at;
        }
    }
    return chosen <= GRAPH_FAR ? (uint16_t)chosen : 0;
}

static void apply(const struct shotgun_constructor *constructor, struct graph_uop *uop,
                  const struct shotgun_uop *observed) {
    const struct shotgun_fragment *fragment = &constructor->fragment;
    uop->flags |= observed->flags & ~(uint32_t)GRAPH_TAKEN;
    uop->fetch_cache = observed->fetch_cache;
    uop->fetch_tlb = observed->fetch_tlb;
    uop->unit_wait = observed->unit_wait;
    uop->mshr_wait = observed->mshr_wait;
    uop->execution = observed->execution;
    uop->miss = observed->miss;
    uop->walk = observed->walk;
    uop->level = observed->level & 0xf;
    uop->after_commit = observed->after_commit;
    uop->store = distance_to_store(constructor, observed->store, observed->store_insn);
    uop->fetched_by = distance_if(fragment, observed->fetched_by, GRAPH_LOAD | GRAPH_STORE);
    uop->queue_entry = distance_if(fragment, observed->queue_entry, UINT32_MAX);
    uop->fetch_packet = distance_if(fragment, observed->fetch_packet, UINT32_MAX);
    uop->fill = observed->fill;
    uint64_t data = observed->store_data - (uint64_t)observed->store + uop->store;
    if (uop->store && observed->store_data && data <= GRAPH_FAR)
        uop->store_data = distance_if(fragment, (uint16_t)data, UINT32_MAX);
    uop->store_wait = observed->store_wait;
}

/* Which producers take less than the wakeup loop (graph/graph.h, GRAPH_WAKEUP). */
static void set_wakeups(const struct shotgun_constructor *constructor, struct graph_uop *uop) {
    const struct shotgun_fragment *fragment = &constructor->fragment;
    if (constructor->machine->core.issue_wakeup < 2)
        return;
    for (uint32_t i = 0; i <= UOP_MAX_SOURCES; i++)
        if (distance_if(fragment, uop->producer[i], GRAPH_SHORT))
            uop->flags |= (uint32_t)GRAPH_WAKEUP << i;
}

static bool append(struct shotgun_constructor *constructor, struct static_uop *uop) {
    struct shotgun_fragment *fragment = &constructor->fragment;
    if (!array_room(fragment->uops, fragment->uop_capacity, fragment->uop_count + 1))
        return false;
    if (uop->graph.flags & GRAPH_STORE) {
        if (!array_push(constructor->stores, constructor->store_capacity, constructor->store_count,
                        fragment->uop_count))
            return false;
    }
    graph_structure_add(constructor->structure, &uop->graph, uop->traits);
    fragment->uops[fragment->uop_count++] = uop->graph;
    return true;
}

/* ---- one instruction ---- */

/* How an instruction appears in the fragment. */
struct appearance {
    uint32_t insn;
    unsigned signature;
    const struct shotgun_sample *sample; /* NULL: none */
    bool compare;                        /* its last µop is in the branch behind it */
    bool fused;                          /* has the last µop of the compare before it */
    bool taken;
    const struct shotgun_sample *went; /* the sample that tells its target; NULL: none */
    bool inferred;                     /* what happened to it: */
    struct inferred_events events;
    bool loads; /* rather than stores only */
};

/* How many µops the instruction executes: as many as it has, or as often as the sample says that it
 * was repeated. */
static uint32_t executed_uops(const struct static_insn *insn, const struct appearance *as) {
    uint32_t own = insn->uop_count - (uint32_t)as->compare;
    if (!as->sample || !(insn->flags & INSN_REP) || as->sample->uops_executed < own)
        return own;
    return as->sample->uops_executed - as->sample->uops_executed % insn->uop_count;
}

/* What was observed of the instruction's k-th µop. Those beyond the ones kept are taken to be like
 * the last ones kept. */
static const struct shotgun_uop *observed_uop(const struct shotgun_constructor *constructor,
                                              const struct static_insn *insn,
                                              const struct shotgun_sample *sample, uint32_t k) {
    if (!sample || sample->uop_count == 0)
        return NULL;
    if (k >= sample->uop_count) {
        uint32_t whole = sample->uop_count - sample->uop_count % insn->uop_count;
        k = whole ? whole - insn->uop_count + k % insn->uop_count : sample->uop_count - 1u;
    }
    return &constructor->database->uops[sample->first_uop + k];
}

/* Sets the part that the µop had in the events of its instruction. */
static void take_events(struct shotgun_uop *observed, const struct graph_uop *uop,
                        const struct inferred_events *events, bool memory) {
    bool first = uop->flags & GRAPH_FIRST, last = uop->flags & GRAPH_LAST;
    observed->flags &= ~(uint32_t)(GRAPH_MISPREDICTED | GRAPH_PENDING);
    observed->flags |= last && events->mispredicted ? GRAPH_MISPREDICTED : 0;
    observed->fetch_cache = first ? events->fetch_cache : 0;
    observed->fetch_tlb = first ? events->fetch_tlb : 0;
    observed->miss = memory ? events->miss : 0;
    observed->level = memory ? events->level : 0;
    observed->walk = memory ? events->walk : 0;
}

/* Takes what the sample tells, if there is one; misses and mispredictions are inferred if it was
 * taken with another signature. */
static struct shotgun_uop observe(const struct shotgun_constructor *constructor,
                                  const struct appearance *as, uint32_t k,
                                  const struct graph_uop *uop) {
    const struct static_insn *insn = shotgun_insn(constructor->code, as->insn);
    const struct shotgun_uop *sampled = observed_uop(constructor, insn, as->sample, k);
    struct shotgun_uop observed = {.store_insn = SHOTGUN_NONE, .execution = uop->execution};
    if (sampled)
        observed = *sampled;
    if (!sampled || as->inferred)
        take_events(&observed, uop, &as->events,
                    uop->flags & (as->loads ? GRAPH_LOAD : GRAPH_STORE));
    return observed;
}

static bool append_uop(struct shotgun_constructor *constructor, const struct appearance *as,
                       uint32_t k, uint32_t count) {
    const struct shotgun_code *code = constructor->code;
    const struct static_insn *insn = shotgun_insn(code, as->insn);
    uint32_t index = k % insn->uop_count;
    struct static_uop uop = shotgun_static_uop(code, constructor->machine, as->insn, index);
    const struct uop *operands = &code->code.uops[insn->first_uop + index];
    if (k >= insn->uop_count)
        uop.graph.flags &= ~(uint32_t)GRAPH_FIRST;
    if (k + 1 < count)
        uop.graph.flags &= ~(uint32_t)GRAPH_LAST;
    if (as->fused) {
        const struct static_insn *compare = shotgun_insn(code, code->flows[as->insn].before);
        uint32_t last = compare->uop_count - 1u;
        operands = &code->code.uops[compare->first_uop + last];
        uop.traits |=
            shotgun_compare_traits(code, constructor->machine, code->flows[as->insn].before);
        uop.graph.flags |= GRAPH_FUSED;
        if (shares_place(&constructor->machine->core, &code->code.uops[compare->first_uop], last))
            uop.graph.flags |= GRAPH_SHARES;
        if (last > 0) /* the pair began with the compare's load */
            uop.graph.flags &= ~(uint32_t)GRAPH_FIRST;
    }
    bool branch = insn->branch != BRANCH_NONE;
    struct shotgun_uop observed = observe(constructor, as, k, &uop.graph);
    apply(constructor, &uop.graph, &observed);
    if (branch && as->taken && uop.graph.flags & GRAPH_LAST)
        uop.graph.flags |= GRAPH_TAKEN;
    rename_uop(constructor, operands, &uop);
    set_wakeups(constructor, &uop.graph);
    return append(constructor, &uop);
}

/* ---- the choice of a sample ---- */

struct choice {
    const struct shotgun_sample *sample;
    enum shotgun_source source;
    unsigned signature;                /* of the instruction */
    const struct shotgun_sample *went; /* that went on as the signature sample did; NULL: none */
    uint64_t context, there;           /* of the instruction */
};

/* After an indirect branch, a sample may differ from the signature sample in so many instructions
 * and yet have gone to the same target. On a compiler 86 of 119 targets of samples that differed in
 * more were wrong, and 149 of the 15,978 others. */
enum { ELSEWHERE_INSNS = 1 };

/* Bit 1 tells the direction if neither sample has an event that would reset it. */
static bool went_elsewhere(const struct shotgun_sample *sample, uint64_t context, uint64_t there) {
    const uint64_t bits_1 = CONTEXT_ALL / SIGNATURE_ALL;
    uint64_t quiet = ~((sample->context | context) >> 1) & bits_1;
    uint64_t different = (sample->context ^ context) & there & quiet;
    return __builtin_popcountll(different >> (CONTEXT_INSNS + 1) * SIGNATURE_BITS) >
           ELSEWHERE_INSNS;
}

static struct choice choose(struct shotgun_constructor *constructor, const uint64_t *bits,
                            uint32_t position) {
    struct choice choice = {.source = SHOTGUN_MISSING};
    uint64_t context = constructor->expected, there = constructor->expected_there;
    if (bits)
        context = signature_context(bits, constructor->length, position, &there);
    choice.context = context;
    choice.there = there;
    choice.signature = context_own(context);
    bool exact;
    choice.sample = shotgun_match(&constructor->index, constructor->insn, context, there,
                                  &constructor->random, &exact);
    if (!choice.sample)
        return choice;
    if (!went_elsewhere(choice.sample, context, there) &&
        !shotgun_unsettled(&constructor->index, constructor->insn))
        choice.went = choice.sample;
    if (constructor->design == SHOTGUN_ONE_SAMPLE) {
        choice.sample = shotgun_only(&constructor->index, constructor->insn);
        exact = !((choice.sample->context ^ context) & there);
    }
    if (!bits) /* nothing else says it */
        choice.signature = context_own(choice.sample->context);
    choice.source = exact ? SHOTGUN_EXACT : SHOTGUN_INEXACT;
    return choice;
}

/* Design 3: sets the expected context of the next instruction from the chosen sample. */
static void expect(struct shotgun_constructor *constructor, const struct shotgun_sample *sample) {
    if (sample) {
        constructor->expected = sample->context;
        constructor->expected_there = CONTEXT_ALL;
    }
    constructor->expected = context_push(constructor->expected, 0);
    constructor->expected_there = constructor->expected_there >> SIGNATURE_BITS;
}

/* ---- where an instruction leads ---- */

static uint32_t sampled_target(const struct shotgun_constructor *constructor,
                               const struct shotgun_sample *sample) {
    if (!sample || sample->target >= constructor->code->code.insn_count)
        return CODE_UNKNOWN;
    uint32_t before = constructor->code->flows[sample->target].before;
    return sample->target_fused && before != CODE_UNKNOWN ? before : sample->target;
}

/* Interaction-cost paper Fig. 7, step 2d. */
static uint32_t next_insn(struct shotgun_constructor *constructor, const struct appearance *as,
                          bool *by_sample) {
    const struct shotgun_flow *flow = &constructor->code->flows[as->insn];
    enum branch_kind kind = shotgun_insn(constructor->code, as->insn)->branch;
    if ((kind == BRANCH_CALL || kind == BRANCH_INDIRECT_CALL) &&
        constructor->return_count < constructor->length)
        constructor->returns[constructor->return_count++] = flow->next;
    *by_sample = false;
    switch (kind) {
    case BRANCH_NONE:
        return flow->next;
    case BRANCH_CONDITIONAL:
        return as->taken ? flow->target : flow->next;
    case BRANCH_JUMP:
    case BRANCH_CALL:
        return flow->target;
    case BRANCH_RETURN:
        if (constructor->return_count)
            return constructor->returns[--constructor->return_count];
        break;
    default:
        break;
    }
    *by_sample = true;
    return sampled_target(constructor, as->went);
}

/* ---- a fragment ---- */

static void begin(struct shotgun_constructor *constructor, size_t skeleton) {
    const struct shotgun_database *database = constructor->database;
    struct shotgun_fragment *fragment = &constructor->fragment;
    fragment->uop_count = 0;
    fragment->insns = 0;
    fragment->outcome = SHOTGUN_COMPLETE;
    constructor->fused = false;
    constructor->return_count = 0;
    constructor->store_count = 0;
    memset(constructor->writer, 0, sizeof constructor->writer);
    graph_structure_begin(constructor->structure);
    if (constructor->design != SHOTGUN_SHORT_SIGNATURES) {
        constructor->insn = database->starts[skeleton];
        return;
    }
    size_t drawn = (size_t)(random_fraction(&constructor->random) * (double)database->sample_count);
    constructor->insn = database->samples[drawn].insn;
    constructor->expected = database->samples[drawn].context;
    constructor->expected_there = CONTEXT_ALL;
}

/* The program counter does not have the bit that the signature tells: this is not what was
 * executed. */
static bool elsewhere(const struct shotgun_constructor *constructor, uint32_t insn,
                      unsigned signature) {
    uint32_t bit = constructor->database->options.pc_bit;
    return bit && (shotgun_insn(constructor->code, insn)->address >> (bit - 1) & 1) !=
                      !!(signature & SIGNATURE_PC);
}

/* Appends the next instruction. False: out of memory, or the fragment is aborted. */
static bool step(struct shotgun_constructor *constructor, const uint64_t *bits, bool *right) {
    struct shotgun_fragment *fragment = &constructor->fragment;
    uint32_t position = fragment->insns, insn = constructor->insn;
    if (insn >= constructor->code->code.insn_count) {
        fragment->outcome = SHOTGUN_LEFT_CODE;
        return false;
    }
    struct choice choice = choose(constructor, bits, position);
    bool illegal = shotgun_illegal(constructor->code, insn, choice.signature) ||
                   elsewhere(constructor, insn, choice.signature);
    if (illegal && (bits || choice.source != SHOTGUN_MISSING)) {
        fragment->outcome = SHOTGUN_ILLEGAL;
        return false;
    }
    const struct static_insn *is = shotgun_insn(constructor->code, insn);
    struct appearance as = {
        .insn = insn,
        .signature = choice.signature,
        .sample = choice.sample,
        .compare = shotgun_fuses(constructor->code, constructor->machine, insn),
        .fused = constructor->fused,
        .went = choice.went,
        .taken = is->branch != BRANCH_NONE &&
                 (is->branch != BRANCH_CONDITIONAL || choice.signature & SIGNATURE_1)};
    as.inferred = !as.sample || (constructor->design != SHOTGUN_ONE_SAMPLE &&
                                 context_own(as.sample->context) != as.signature);
    if (as.inferred)
        as.events = shotgun_infer(&constructor->inference, insn, choice.context, choice.there,
                                  &constructor->random);
    for (uint32_t i = 0; i < is->uop_count; i++)
        as.loads |= constructor->code->code.uops[is->first_uop + i].operation == OP_LOAD;
    uint32_t uops = executed_uops(is, &as);
    if (fragment->uop_count + uops > (uint64_t)constructor->length * SHOTGUN_UOPS_PER_INSN) {
        fragment->outcome = SHOTGUN_TOO_LONG;
        return false;
    }
    for (uint32_t k = 0; k < uops && *right; k++)
        *right = append_uop(constructor, &as, k, as.compare ? uops + 1 : uops);
    bool by_sample;
    constructor->insn = next_insn(constructor, &as, &by_sample);
    constructor->fused = as.compare;
    if (constructor->design == SHOTGUN_SHORT_SIGNATURES)
        expect(constructor, choice.sample);
    fragment->path[position] = insn;
    fragment->source[position] = uops ? (uint8_t)choice.source : SHOTGUN_NOTHING;
    fragment->by_sample[position] = by_sample;
    fragment->insns++;
    if (by_sample && bits && constructor->length - fragment->insns < CONTEXT_INSNS)
        return false; /* it ends here */
    if (by_sample && constructor->insn == CODE_UNKNOWN)
        fragment->outcome = SHOTGUN_NO_TARGET;
    return *right && fragment->outcome == SHOTGUN_COMPLETE;
}

const struct shotgun_fragment *shotgun_construct(struct shotgun_constructor *constructor,
                                                 size_t skeleton) {
    const uint64_t *bits = constructor->design == SHOTGUN_SHORT_SIGNATURES
                               ? NULL
                               : shotgun_bits(constructor->database, skeleton);
    bool right = true;
    begin(constructor, skeleton);
    while (constructor->fragment.insns < constructor->length && step(constructor, bits, &right))
        ;
    if (constructor->fragment.insns == constructor->length)
        constructor->fragment.outcome = SHOTGUN_COMPLETE;
    constructor->fragment.next = constructor->insn;
    return right ? &constructor->fragment : NULL;
}
