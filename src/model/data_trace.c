/* See data_trace.h. An instruction without memory accesses none of whose sources waits for an
 * event costs two masks; every other goes through its µops. */
#include "model/data_trace.h"

#include <stdlib.h>

#include "core/core.h"
#include "core/input.h"
#include "core/places.h"
#include "memory/memory.h"
#include "model/dependence.h"

enum { REP_PIECE = 64 };

/* A static instruction, made when it is first executed. */
struct recipe {
    uint64_t reads[2], writes[2]; /* bit per register, over all µops */
    uint32_t first_uop;
    uint8_t uop_count;
    uint8_t places;
    uint8_t shares; /* bit per µop: it has the place of the one before */
    uint8_t traits;
    uint8_t operand; /* of RECIPE_LOAD */
};
enum recipe_trait {
    RECIPE_MEMORY = 1 << 0,   /* some µop loads or stores */
    RECIPE_PREFETCH = 1 << 1, /* nobody waits for what it loads */
    RECIPE_COMPARE = 1 << 2,  /* fuses with a branch behind it, on this machine */
    RECIPE_BRANCH = 1 << 3,
    RECIPE_LOAD = 1 << 4,         /* one µop loads, none stores, and somebody may wait for it */
    RECIPE_FENCE_BEFORE = 1 << 5, /* begins when it is the oldest */
    RECIPE_FENCE_BEHIND = 1 << 6  /* what follows waits until it has committed */
};
static_assert(INSN_MAX_UOPS <= 8, "a bit per µop");
/* Those that need a look at what they do even if nothing that they read waits. */
enum { RECIPE_SPECIAL = RECIPE_MEMORY | RECIPE_FENCE_BEFORE | RECIPE_FENCE_BEHIND };

struct data_trace {
    struct dependence dependence;
    struct memory *memory;
    struct machine_core core; /* what fuses */
    struct data_reach reach;
    uint32_t longest_reach;
    bool beyond_is_free; /* prefetches of levels beyond the L1D take none of the fewest MSHRs */
    struct recipe *recipes;
    size_t recipe_capacity;
    uint32_t recipe_count;
    struct data_counts counts;
    uint64_t left_out; /* places of `now` that are none: they separate what was resumed */
};

/* The instruction at hand. */
struct step {
    const struct code *code;
    const struct recipe *recipe;
    uint32_t insn;
    const struct memory_access *accesses;
    uint32_t access_count;
    const struct untimed_result *loaded; /* what its only access answered; NULL: not asked yet */
};

static uint32_t shorter(uint32_t reach) {
    return reach < DATA_MAX_REACH ? reach : DATA_MAX_REACH;
}

static bool l1d_has_fewest_mshrs(const struct machine *machine) {
    const uint32_t l1d = machine->l1d.mshrs;
    return l1d && !(machine->l2.present && machine->l2.mshrs && machine->l2.mshrs < l1d) &&
           !(machine->llc.present && machine->llc.mshrs && machine->llc.mshrs < l1d);
}

struct data_trace *data_trace_new(const struct machine *machine, struct data_reach reach,
                                  struct data_sink sink, struct error *error) {
    struct data_trace *trace = calloc(1, sizeof *trace);
    if (!trace)
        return error_null(error, "out of memory for a data trace");
    trace->reach = (struct data_reach){shorter(reach.window), shorter(reach.arrival)};
    trace->core = machine->core;
    trace->beyond_is_free = l1d_has_fewest_mshrs(machine);
    trace->longest_reach =
        trace->reach.window > trace->reach.arrival ? trace->reach.window : trace->reach.arrival;
    trace->memory = memory_new(machine, 0, error);
    if (!trace->memory || !dependence_new(&trace->dependence, trace->reach.window,
                                          trace->longest_reach, sink, error)) {
        data_trace_free(trace);
        return NULL;
    }
    return trace;
}

void data_trace_free(struct data_trace *trace) {
    if (!trace)
        return;
    memory_free(trace->memory);
    dependence_free(&trace->dependence);
    free(trace->recipes);
    free(trace);
}

/* What was there lies out of reach. */
void data_trace_resume(struct data_trace *trace, const struct memory *memory) {
    const uint64_t gap = 2 * (uint64_t)trace->longest_reach;
    dependence_skip(&trace->dependence, gap);
    trace->left_out += gap;
    trace->recipe_count = 0;
    memory_untimed_from(trace->memory, memory);
}

void data_trace_finish(struct data_trace *trace) {
    events_show(&trace->dependence);
}

struct data_counts data_trace_counts(const struct data_trace *trace) {
    struct data_counts counts = trace->counts;
    counts.uops = trace->dependence.now - trace->left_out;
    counts.events = trace->dependence.next;
    return counts;
}

/* ---- recipes ---- */

static void note_register(uint64_t mask[2], uint8_t reg) {
    if (reg < REG_COUNT)
        mask[reg / 64] |= 1ull << reg % 64;
}

static void make_recipe(const struct data_trace *trace, struct recipe *recipe,
                        const struct code *code, const struct static_insn *insn) {
    const struct uop *uops = &code->uops[insn->first_uop];
    uint32_t loads = 0, stores = 0;
    *recipe = (struct recipe){.first_uop = insn->first_uop, .uop_count = insn->uop_count};
    for (uint32_t k = 0; k < insn->uop_count; k++) {
        for (uint32_t i = 0; i < uops[k].source_count; i++)
            note_register(recipe->reads, uops[k].source[i]);
        for (uint32_t i = 0; i < uops[k].destination_count; i++)
            note_register(recipe->writes, uops[k].destination[i]);
        if (shares_place(&trace->core, uops, k))
            recipe->shares |= (uint8_t)(1 << k);
        else
            recipe->places++;
        loads += uops[k].operation == OP_LOAD;
        stores += uops[k].operation == OP_STORE;
        if (uops[k].operation == OP_LOAD)
            recipe->operand = uops[k].memory;
    }
    if (loads + stores)
        recipe->traits |= RECIPE_MEMORY;
    if (insn->flags & (INSN_SERIALISING | INSN_FENCE_STORE))
        recipe->traits |= RECIPE_FENCE_BEFORE;
    if (insn->flags & (INSN_SERIALISING | INSN_FLUSHING | INSN_SYSCALL | INSN_FENCE_LOAD))
        recipe->traits |= RECIPE_FENCE_BEHIND;
    const bool fences = recipe->traits & (RECIPE_FENCE_BEFORE | RECIPE_FENCE_BEHIND);
    if (insn->flags & INSN_PREFETCH)
        recipe->traits |= RECIPE_PREFETCH;
    else if (loads == 1 && stores == 0 && !fences)
        recipe->traits |= RECIPE_LOAD;
    if (trace->core.fuse_compare_branch && insn_fuses_compare(insn, &uops[insn->uop_count - 1]))
        recipe->traits |= RECIPE_COMPARE;
    if (trace->core.fuse_compare_branch && insn_fuses_branch(insn))
        recipe->traits |= RECIPE_BRANCH;
}

static bool make_recipes(struct data_trace *trace, const struct code *code, struct error *error) {
    if (!core_reserve_insns(code, (void **)&trace->recipes, &trace->recipe_capacity,
                            sizeof *trace->recipes, error))
        return false;
    for (; trace->recipe_count < code->insn_count; trace->recipe_count++)
        make_recipe(trace, &trace->recipes[trace->recipe_count], code,
                    &code->insns[trace->recipe_count]);
    return true;
}

/* ---- µops ---- */

static bool within(uint64_t from, uint64_t to, uint32_t reach) {
    return to - from < reach;
}

static uint8_t triggered(const struct data_trace *trace, const struct untimed_result *result) {
    if (!(result->events & UNTIMED_TRIGGERED))
        return 0;
    return result->events & UNTIMED_BEYOND && trace->beyond_is_free ? DATA_TRIGGER | DATA_BEYOND
                                                                    : DATA_TRIGGER;
}

/* How many events back the block was fetched of which a prefetcher asks for another line; 0: no
 * prefetcher does, or the block has arrived. */
static uint32_t goes_along(const struct data_trace *trace, const struct untimed_result *result) {
    const struct dependence *dependence = &trace->dependence;
    if (!(result->events & UNTIMED_ALONG))
        return 0;
    const struct data_event *fetch = event_find(dependence, result->along);
    const bool there = fetch && within(fetch->position, dependence->now, trace->reach.arrival);
    const uint64_t back = dependence->next - result->along;
    return there && back <= UINT16_MAX ? (uint32_t)back : 0;
}

static void go_along(struct data_event *event, const struct untimed_result *result,
                     uint32_t along) {
    event->along = (uint16_t)along;
    if (along && result->events & UNTIMED_ALONG_PREFETCHED)
        event->flags |= DATA_ALONG_PREFETCHED;
}

/* One access of a load; adds to `loaded` what the value read waits for. */
static void load(struct data_trace *trace, const struct step *step, uint64_t address,
                 uint32_t size_bytes, const struct value *to_begin, struct value *loaded) {
    struct dependence *dependence = &trace->dependence;
    struct untimed_result result;
    const bool forwarded = stored_find(dependence, address, size_bytes, loaded);
    const uint64_t number = dependence->next;
    if (step->loaded)
        result = *step->loaded;
    else
        memory_untimed(trace->memory, address, size_bytes, false, number, step->insn, &result);
    const bool missed = result.events & UNTIMED_MISS || result.fetched_by == number;
    trace->counts.load_misses += missed;
    uint8_t flags = missed && !forwarded ? DATA_MISS : 0;
    const struct data_event *fetch = NULL;
    if (!missed && !forwarded && (fetch = event_find(dependence, result.fetched_by)) != NULL) {
        const bool prefetched = result.events & UNTIMED_PREFETCHED;
        if (within(fetch->position, dependence->now,
                   prefetched ? trace->reach.arrival : trace->reach.window))
            flags = (uint8_t)(DATA_HIT | (prefetched ? DATA_PREFETCHED : 0) |
                              (result.events & UNTIMED_FIRST_USE ? DATA_FIRST_USE : 0) |
                              (result.events & UNTIMED_MISSED_L1 ? DATA_FILL : 0));
    }
    struct value itself = {.oldest = dependence->now, .count = 1, .events = {(uint32_t)number}};
    const uint32_t along = goes_along(trace, &result);
    if (flags || along || result.events & (UNTIMED_MISS | UNTIMED_TRIGGERED)) {
        struct data_event *event =
            event_add(dependence, to_begin, flags | triggered(trace, &result));
        go_along(event, &result, along);
        if (flags & DATA_HIT) {
            event->fetched_by_uops = (uint32_t)(event->position - fetch->position);
            event->fetched_by = (uint16_t)(number - result.fetched_by);
        }
    }
    value_add(dependence, loaded, flags ? &itself : to_begin);
}

static void prefetch(struct data_trace *trace, const struct step *step, uint64_t address,
                     const struct value *to_begin) {
    struct untimed_result result;
    memory_untimed_prefetch(trace->memory, address, trace->dependence.next, step->insn, &result);
    if (result.events & UNTIMED_TRIGGERED)
        event_add(&trace->dependence, to_begin, DATA_TRIGGER);
}

static void store(struct data_trace *trace, const struct step *step, uint64_t address,
                  uint32_t size_bytes, const struct value *value) {
    struct dependence *dependence = &trace->dependence;
    struct untimed_result result;
    memory_untimed(trace->memory, address, size_bytes, true, dependence->next, step->insn, &result);
    trace->counts.store_misses += result.events & UNTIMED_MISS ? 1 : 0;
    const uint32_t along = goes_along(trace, &result);
    if (along || result.events & (UNTIMED_MISS | UNTIMED_TRIGGERED))
        go_along(
            event_add(dependence, value,
                      (result.events & UNTIMED_MISS ? DATA_STORE : 0) | triggered(trace, &result)),
            &result, along);
    stored_set(dependence, address, size_bytes, value);
}

static void access_memory(struct data_trace *trace, const struct step *step, const struct uop *uop,
                          uint64_t address, uint32_t size_bytes, const struct value *sources,
                          struct value *result) {
    trace->counts.accesses++;
    size_bytes += size_bytes == 0; /* unknown */
    if (uop->operation == OP_STORE)
        store(trace, step, address, size_bytes, sources);
    else if (step->recipe->traits & RECIPE_PREFETCH)
        prefetch(trace, step, address, sources);
    else
        load(trace, step, address, size_bytes, sources, result);
}

static inline struct value sources_of(struct data_trace *trace, const struct uop *uop) {
    struct value value;
    value.count = 0;
    for (uint32_t i = 0; i < uop->source_count; i++)
        value_add_register(&trace->dependence, &value, uop->source[i]);
    if (uop->operation == OP_STORE && uop->data < REG_COUNT)
        value_add_register(&trace->dependence, &value, uop->data);
    return value;
}

/* The µop, of this number in its instruction, is done; `now` is then the place of the next. */
static void finish_uop(struct data_trace *trace, const struct recipe *recipe, uint32_t number,
                       const struct uop *uop, const struct value *value) {
    for (uint32_t i = 0; i < uop->destination_count; i++)
        register_set(&trace->dependence, uop->destination[i], value);
    trace->dependence.stores += uop->operation == OP_STORE;
    trace->dependence.now += !(recipe->shares >> (number + 1) & 1);
}

static void plain_uop(struct data_trace *trace, const struct step *step, uint32_t number) {
    const struct uop *uop = &step->code->uops[step->recipe->first_uop + number];
    const struct value sources = sources_of(trace, uop);
    struct value result = {0};
    bool accessed = false;
    if (uop->operation == OP_LOAD || uop->operation == OP_STORE)
        for (uint32_t i = 0; i < step->access_count; i++) {
            const struct memory_access *access = &step->accesses[i];
            if (access->operand != uop->memory)
                continue;
            access_memory(trace, step, uop, access->address, access->size_bytes, &sources, &result);
            accessed = true;
        }
    finish_uop(trace, step->recipe, number, uop, accessed ? &result : &sources);
}

static void plain(struct data_trace *trace, const struct step *step) {
    for (uint32_t k = 0; k < step->recipe->uop_count; k++)
        plain_uop(trace, step, k);
}

/* ---- repeated string instructions ---- */

/* Pieces that one expands to, and their size, as in the core: stores and copies move a line at a
 * time, compares and scans an element. */
static uint64_t rep_pieces(const struct step *step, uint32_t repeat, uint32_t *bytes) {
    uint64_t most = 0, operands[INSN_MAX_MEMORY] = {0};
    bool stores = false;
    for (uint32_t i = 0; i < step->access_count; i++) {
        const struct memory_access *access = &step->accesses[i];
        stores |= access->is_store;
        if (access->operand >= INSN_MAX_MEMORY)
            continue;
        operands[access->operand] += access->size_bytes;
        most = operands[access->operand] > most ? operands[access->operand] : most;
    }
    *bytes = REP_PIECE;
    if (most == 0 || repeat == 0)
        return 1;
    if (!stores) {
        const uint64_t element = most / repeat;
        *bytes = element == 0 ? 1 : element < REP_PIECE ? (uint32_t)element : REP_PIECE;
    }
    return (most + *bytes - 1) / *bytes;
}

/* The part of an operand's accesses that a piece touches; 0 bytes: none. */
static uint32_t find_piece(const struct step *step, uint8_t operand, uint64_t start, uint32_t bytes,
                           uint64_t *address) {
    for (uint32_t i = 0; i < step->access_count; i++) {
        const struct memory_access *access = &step->accesses[i];
        if (access->operand != operand)
            continue;
        if (start >= access->size_bytes) {
            start -= access->size_bytes;
            continue;
        }
        const uint64_t left = access->size_bytes - start;
        const uint32_t size_bytes = left < bytes ? (uint32_t)left : bytes;
        *address = access->descending ? access->address + access->size_bytes - start - size_bytes
                                      : access->address + start;
        return size_bytes;
    }
    return 0;
}

static void repeated(struct data_trace *trace, const struct step *step, uint32_t repeat) {
    uint32_t bytes;
    const uint64_t pieces = rep_pieces(step, repeat, &bytes);
    for (uint64_t piece = 0; piece < pieces; piece++)
        for (uint32_t k = 0; k < step->recipe->uop_count; k++) {
            const struct uop *uop = &step->code->uops[step->recipe->first_uop + k];
            const struct value sources = sources_of(trace, uop);
            struct value result = {0};
            uint64_t address;
            uint32_t size_bytes = 0;
            if (uop->operation == OP_LOAD || uop->operation == OP_STORE)
                size_bytes = find_piece(step, uop->memory, piece * bytes, bytes, &address);
            if (size_bytes)
                access_memory(trace, step, uop, address, size_bytes, &sources, &result);
            finish_uop(trace, step->recipe, k, uop, size_bytes ? &result : &sources);
        }
}

/* ---- instructions ---- */

/* Registers get what others wait for. */
static inline void compute(struct data_trace *trace, const struct code *code,
                           const struct recipe *recipe) {
    const struct uop *uops = &code->uops[recipe->first_uop];
    for (uint32_t k = 0; k < recipe->uop_count; k++) {
        const struct value sources = sources_of(trace, &uops[k]);
        finish_uop(trace, recipe, k, &uops[k], &sources);
    }
}

/* It only overwrites registers with values that wait for nothing. */
static inline void overwrite(struct dependence *dependence, const struct recipe *recipe) {
    dependence->waiting[0] &= ~recipe->writes[0];
    dependence->waiting[1] &= ~recipe->writes[1];
    dependence->now += recipe->places;
}

/* A load without anything to wait for, but perhaps its block: true when it does not. */
static inline bool load_hits(struct data_trace *trace, const struct step *step,
                             struct untimed_result *result) {
    struct dependence *dependence = &trace->dependence;
    const struct memory_access *access = step->accesses;
    memory_untimed(trace->memory, access->address, access->size_bytes + !access->size_bytes, false,
                   dependence->next, step->insn, result);
    if (result->events & (UNTIMED_MISS | UNTIMED_TRIGGERED | UNTIMED_ALONG))
        return false;
    if (result->fetched_by >= dependence->recent && result->fetched_by != UINT64_MAX) {
        events_age(dependence, trace->longest_reach);
        if (result->fetched_by >= dependence->recent)
            return false;
    }
    trace->counts.accesses++;
    overwrite(dependence, step->recipe);
    return true;
}

static __attribute__((noinline)) void any(struct data_trace *trace, const struct step *step,
                                          const struct dynamic_insn *insn) {
    const struct value nothing = {0};
    if (step->recipe->traits & RECIPE_FENCE_BEFORE)
        event_add(&trace->dependence, &nothing, DATA_FENCE);
    if (insn->flags & DYN_REP)
        repeated(trace, step, insn->repeat);
    else
        plain(trace, step);
    if (step->recipe->traits & RECIPE_FENCE_BEHIND)
        event_add(&trace->dependence, &nothing, DATA_FENCE);
}

static inline void instruction(struct data_trace *trace, const struct core_input *input,
                               const struct dynamic_insn *insn) {
    struct dependence *dependence = &trace->dependence;
    const struct recipe *recipe = &trace->recipes[insn->insn];
    const bool waits =
        recipe->reads[0] & dependence->waiting[0] || recipe->reads[1] & dependence->waiting[1];
    if (!(recipe->traits & RECIPE_SPECIAL)) {
        if (waits)
            compute(trace, input->code, recipe);
        else
            overwrite(dependence, recipe);
        return;
    }
    struct untimed_result result;
    struct step step = {.code = input->code,
                        .recipe = recipe,
                        .insn = insn->insn,
                        .access_count = insn->memory_count};
    if (insn->memory_count)
        step.accesses = input->accesses + (insn->memory - input->first_access);
    if (!waits && recipe->traits & RECIPE_LOAD && insn->memory_count == 1 &&
        !(insn->flags & DYN_REP) && step.accesses->operand == recipe->operand &&
        dependence->now >= dependence->stored_until) {
        if (load_hits(trace, &step, &result))
            return;
        step.loaded = &result;
    }
    any(trace, &step, insn);
}

static bool fuses(const struct data_trace *trace, const struct code *code,
                  const struct dynamic_insn *insn) {
    const struct static_insn *compare = &code->insns[insn->insn],
                             *branch = &code->insns[insn[1].insn];
    return !insn->flags && !(insn[1].flags & DYN_FAULT) &&
           trace->recipes[insn[1].insn].traits & RECIPE_BRANCH &&
           branch->address == compare->address + compare->length;
}

bool data_trace_add(struct data_trace *trace, const struct core_input *input, struct error *error) {
    const struct core_input is = *input;
    if (trace->recipe_count < is.code->insn_count && !make_recipes(trace, is.code, error))
        return false;
    for (uint32_t i = 0; i < is.insn_count; i++) {
        const struct dynamic_insn *insn = &is.insns[i];
        if (!core_input_is_there(is.code, insn, is.access_count, is.first_access))
            return core_input_error(error);
        if (insn->flags & DYN_FAULT)
            continue;
        trace->counts.instructions++;
        instruction(trace, &is, insn);
        if (trace->core.fuse_compare_branch && trace->recipes[insn->insn].traits & RECIPE_COMPARE &&
            i + 1 < is.insn_count && is.insns[i + 1].insn < trace->recipe_count &&
            fuses(trace, is.code, insn))
            trace->dependence.now--; /* one µop with the branch */
    }
    return true;
}

static void warm(struct data_trace *trace, uint32_t insn, const struct memory_access *access) {
    const bool prefetches = trace->recipes[insn].traits & RECIPE_PREFETCH;
    struct untimed_result result;
    for (uint64_t done = 0; done == 0 || done < access->size_bytes; done += REP_PIECE) {
        const uint64_t left = access->size_bytes - done;
        const uint32_t size_bytes = left < REP_PIECE ? (uint32_t)left : REP_PIECE;
        if (prefetches)
            memory_untimed_prefetch(trace->memory, access->address + done, UNTIMED_NOBODY, insn,
                                    &result);
        else
            memory_untimed(trace->memory, access->address + done, size_bytes + !size_bytes,
                           access->is_store, UNTIMED_NOBODY, insn, &result);
    }
}

bool data_trace_warm(struct data_trace *trace, const struct core_input *input,
                     struct error *error) {
    const struct core_input is = *input;
    if (trace->recipe_count < is.code->insn_count && !make_recipes(trace, is.code, error))
        return false;
    for (uint32_t i = 0; i < is.insn_count; i++) {
        const struct dynamic_insn *insn = &is.insns[i];
        if (!core_input_is_there(is.code, insn, is.access_count, is.first_access))
            return core_input_error(error);
        for (uint32_t k = 0; k < insn->memory_count; k++)
            warm(trace, insn->insn, &is.accesses[insn->memory - is.first_access + k]);
    }
    return true;
}
