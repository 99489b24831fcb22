/* Cores that run the same programs are one core with copies, and so are threads of a core that run
 * the same program; so the work grows with how many different ones there are. */
#include "model/throughput.h"

#include <math.h>
#include <stdlib.h>

#include "core/multithreaded/penalties.h"
#include "model/markov.h"
#include "model/mean_value.h"
#include "util/array.h"

const char *const throughput_model_names[THROUGHPUT_MODELS] = {
    [THROUGHPUT_SUM_OF_CYCLES] = "sum of cycles",
    [THROUGHPUT_SUM_OF_IPCS] = "sum of IPCs",
    [THROUGHPUT_BERNOULLI] = "Bernoulli",
    [THROUGHPUT_MARKOV] = "Markov",
    [THROUGHPUT_MEAN_VALUE] = "mean value"};

const char *const throughput_latency_names[LATENCIES] = {
    [LATENCY_MEAN] = "mean", [LATENCY_BY_TIME] = "by-time"};

const char *const throughput_speeds_names[SPEEDS] = {
    [SPEEDS_MEAN_VALUE] = "mean-value", [SPEEDS_ISOLATED] = "isolated"};

/* Threads of a core that run one program. */
struct member {
    const struct locality *program;
    uint32_t copies;
    double turns; /* issue slots per instruction */
    double speed; /* instructions per cycle, for contention */
    /* Its profile of the L2: between these two, `part` of the way. */
    const struct locality_level *below, *above;
    double part;
    struct throughput_thread thread;
};

/* Cores that run the same programs. */
struct core {
    struct member *members;
    uint32_t member_count, threads, copies;
    struct throughput_core predicted;
};

struct model {
    const struct throughput_options *options;
    struct chip_penalties penalties;
    uint32_t level;
    struct core *cores;
    uint32_t core_count, thread_count;
    struct member *members;            /* of all cores */
    uint32_t *core_of;                 /* [machine's cores] */
    struct contention_thread *sharers; /* room for all members */
    double *extra;                     /* room for all members twice */
};

/* ---- stalls and speeds ---- */

static double rate(const struct locality *program, uint64_t count) {
    return (double)count / (double)program->events.instructions;
}

static struct throughput_stall stall(double events, double cycles_each) {
    return (struct throughput_stall){events, events * cycles_each};
}

/* And turns, which a page that the DTLB does not hold takes one more of. */
static void find_stalls(const struct model *model, struct member *member) {
    const struct locality *program = member->program;
    const struct locality_events *events = &program->events;
    const struct chip_penalties *penalties = &model->penalties;
    struct throughput_thread *thread = &member->thread;
    struct throughput_stall *stalls = thread->stalls;
    const double *extra = thread->extra_core;
    const double l2_misses = thread->l2_alone + thread->extra_l2;
    const double l1d_misses = fmax(thread->l1d_alone + thread->extra_l1d, l2_misses);
    stalls[SUSPENDED_L2_HIT] = stall(l1d_misses - l2_misses, penalties->l2_hit);
    stalls[SUSPENDED_L2_MISS] = stall(l2_misses, penalties->memory);
    stalls[SUSPENDED_FETCH] =
        stall(rate(program, events->l1i_misses) + extra[LOCALITY_L1I], penalties->fetch);
    stalls[SUSPENDED_FETCH].cycles +=
        rate(program, events->code_lines) * model->options->machine->dram.latency;
    const double dtlb = rate(program, events->dtlb_misses) + extra[LOCALITY_DTLB];
    const double itlb = rate(program, events->itlb_misses) + extra[LOCALITY_ITLB];
    member->turns = rate(program, events->turns) + dtlb;
    stalls[SUSPENDED_TRANSLATION] = (struct throughput_stall){
        dtlb + itlb, (dtlb + itlb) * penalties->translation - dtlb /* a turn */};
    stalls[SUSPENDED_LONG] = (struct throughput_stall){rate(program, events->long_operations),
                                                       rate(program, events->long_cycles)};
    stalls[SUSPENDED_SYSTEM] = (struct throughput_stall){rate(program, events->system_events),
                                                         rate(program, events->system_cycles)};
    const double mispredicted = rate(program, events->mispredictions);
    const double late = rate(program, events->late_branches);
    stalls[SUSPENDED_BRANCH] = (struct throughput_stall){
        mispredicted + late, mispredicted * penalties->mispredict + late * penalties->late_branch};
}

/* Cycles per instruction: the CPI alone is these and its turns to issue. */
static double waiting(const struct member *member) {
    return sum_over(double, cause, SUSPENSIONS, member->thread.stalls[cause].cycles);
}

double throughput_latency(const struct throughput_stall *stalls, uint32_t count,
                          enum throughput_latency latency) {
    double events = 0, cycles = 0, weighed = 0;
    for (uint32_t i = 0; i < count; i++) {
        events += stalls[i].events;
        cycles += stalls[i].cycles;
        if (stalls[i].events > 0)
            weighed += stalls[i].cycles / stalls[i].events * stalls[i].cycles;
    }
    if (cycles <= 0)
        return 1;
    return fmax(latency == LATENCY_MEAN ? cycles / events : weighed / cycles, 1);
}

/* Of the instructions of the core, as many of each thread as its IPC has part in their sum: what
 * suspends an issue slot of this mix, and the IPC of the core by the Markov chain (Chen 2009
 * §4.4.2). */
static void run_markov(const struct model *model, struct core *core) {
    struct throughput_stall mix[SUSPENSIONS] = {0};
    double ipcs = 0, turns = 0, events = 0;
    for (uint32_t i = 0; i < core->member_count; i++)
        ipcs += core->members[i].copies * core->members[i].thread.ipc;
    for (uint32_t i = 0; i < core->member_count; i++) {
        const struct member *member = &core->members[i];
        const double part = member->copies * member->thread.ipc / ipcs;
        turns += part * member->turns;
        for (uint32_t cause = 0; cause < SUSPENSIONS; cause++) {
            mix[cause].events += part * member->thread.stalls[cause].events;
            mix[cause].cycles += part * member->thread.stalls[cause].cycles;
            events += part * member->thread.stalls[cause].events;
        }
    }
    struct throughput_core *predicted = &core->predicted;
    predicted->p = fmin(events / turns, 1);
    predicted->latency = throughput_latency(mix, SUSPENSIONS, model->options->latency);
    predicted->ipc[THROUGHPUT_MARKOV] =
        markov_throughput(core->threads, predicted->p, predicted->latency) / turns;
    for (uint32_t i = 0; i < core->member_count; i++)
        core->members[i].speed =
            predicted->ipc[THROUGHPUT_MARKOV] * core->members[i].thread.ipc / ipcs;
}

static bool run_mean_value(const struct model *model, struct core *core, struct error *error) {
    struct mean_value_class classes[MARKOV_MAX_THREADS];
    double throughput[MARKOV_MAX_THREADS], *sum = &core->predicted.ipc[THROUGHPUT_MEAN_VALUE];
    for (uint32_t i = 0; i < core->member_count; i++) {
        const struct member *member = &core->members[i];
        classes[i] = (struct mean_value_class){
            .threads = member->copies, .service = member->turns, .delay = waiting(member)};
    }
    if (!mean_value_analysis(classes, core->member_count, throughput, error))
        return false;
    *sum = 0;
    for (uint32_t i = 0; i < core->member_count; i++) {
        struct member *member = &core->members[i];
        member->thread.ipc_shared = throughput[i];
        *sum += member->copies * throughput[i];
        if (model->options->speeds == SPEEDS_MEAN_VALUE)
            member->speed = throughput[i];
    }
    return true;
}

static bool find_speeds(struct model *model, struct error *error) {
    for (uint32_t c = 0; c < model->core_count; c++) {
        struct core *core = &model->cores[c];
        if (core->threads == 0)
            continue;
        for (uint32_t i = 0; i < core->member_count; i++) {
            find_stalls(model, &core->members[i]);
            core->members[i].thread.ipc = 1 / (core->members[i].turns + waiting(&core->members[i]));
        }
        run_markov(model, core);
        if (!run_mean_value(model, core, error))
            return false;
    }
    return true;
}

/* Those that know nothing of contention (Chen 2009 §4.1 to §4.3). */
static void run_simple_models(struct core *core) {
    if (core->threads == 0)
        return;
    double ipcs = 0, idle = 1, turns = 0;
    for (uint32_t i = 0; i < core->member_count; i++) {
        const struct member *member = &core->members[i];
        const double ipc = member->thread.ipc_alone;
        ipcs += member->copies * ipc;
        turns += member->copies * ipc * member->turns;
        idle *= pow(1 - ipc * member->turns, member->copies);
    }
    double *predicted = core->predicted.ipc;
    predicted[THROUGHPUT_SUM_OF_CYCLES] = ipcs / core->threads;
    predicted[THROUGHPUT_SUM_OF_IPCS] = ipcs;
    predicted[THROUGHPUT_BERNOULLI] = (1 - idle) * ipcs / turns;
}

/* ---- contention ---- */

static void add_sharer(struct model *model, uint32_t *count, const struct member *member,
                       uint32_t copies, const struct locality_level *level) {
    const double instructions = (double)member->program->events.instructions;
    model->sharers[(*count)++] =
        (struct contention_thread){.level = level,
                                   .frequency = member->speed * (double)level->run / instructions,
                                   .scale = 1 / instructions,
                                   .copies = copies};
}

/* What the threads of a core share: the L1D, and what enum locality_core names. */
enum { L1D = LOCALITY_CORE };

static const struct locality_level *core_level(const struct member *member, uint32_t which) {
    return which == L1D ? &member->program->levels[0] : &member->program->core[which];
}

/* By address bits that a page's frame does not change, as are those of an L1 no larger than a page
 * a way; TLBs know no frames. U is not profiled of what is not data. */
static struct contention_options core_options(const struct model *model, uint32_t which) {
    const struct machine *machine = model->options->machine;
    const struct machine_cache *l1 = which == L1D ? &machine->l1d : &machine->l1i;
    struct contention_options options = model->options->contention;
    options.sets_are_known |= which == LOCALITY_ITLB || which == LOCALITY_DTLB ||
                              l1->size / l1->ways <= machine->page_size;
    if (which != L1D && options.model == CONTENTION_BINOMIAL)
        options.model = CONTENTION_MEASURED;
    return options;
}

static bool contend_in_core(struct model *model, struct core *core, uint32_t which,
                            struct error *error) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < core->member_count; i++)
        if (locality_has(core_level(&core->members[i], which)))
            add_sharer(model, &count, &core->members[i], core->members[i].copies,
                       core_level(&core->members[i], which));
    if (core->threads <= 1 || count == 0)
        return true;
    const struct contention_options options = core_options(model, which);
    if (!contention_extra(model->sharers, count, &options, model->extra, error))
        return false;
    count = 0;
    for (uint32_t i = 0; i < core->member_count; i++) {
        struct throughput_thread *thread = &core->members[i].thread;
        if (locality_has(core_level(&core->members[i], which)))
            *(which == L1D ? &thread->extra_l1d : &thread->extra_core[which]) =
                model->extra[count++];
    }
    return true;
}

/* Where foreign blocks take as much from the thread's L1D as the contention model says that the
 * others of its core do: by its misses beyond those alone. */
static void find_l2_profile(const struct model *model, struct member *member) {
    const struct locality *program = member->program;
    const struct locality_level *alone = &program->levels[model->level];
    const double extra = member->thread.extra_l1d;
    double least = 0, most = 0;
    member->below = member->above = alone;
    for (uint32_t i = 0; i < alone->crowded_count && most < extra; i++) {
        member->below = member->above;
        member->above = &alone->crowded[i];
        least = most;
        most = rate(program, member->above->accesses) - rate(program, alone->accesses);
    }
    member->part = most > least ? fmin((extra - least) / (most - least), 1) : 0;
}

/* With every thread's L2 profile below, or above, what its L1D loses. */
static bool contend_at(struct model *model, bool above, double *extra, struct error *error) {
    uint32_t count = 0;
    for (uint32_t c = 0; c < model->core_count; c++)
        for (uint32_t i = 0; i < model->cores[c].member_count; i++) {
            const struct member *member = &model->cores[c].members[i];
            add_sharer(model, &count, member, member->copies * model->cores[c].copies,
                       above ? member->above : member->below);
        }
    return contention_extra(model->sharers, count, &model->options->contention, extra, error);
}

static void set_extra_l2(struct member *member, double below, double above) {
    below += rate(member->program, member->below->misses);
    above += rate(member->program, member->above->misses);
    member->thread.extra_l2 = below + member->part * (above - below) - member->thread.l2_alone;
}

static bool contend_in_l2(struct model *model, struct error *error) {
    double *below = model->extra, *above = model->extra + model->thread_count;
    if (model->thread_count == 1)
        return true;
    for (uint32_t c = 0; c < model->core_count; c++)
        for (uint32_t i = 0; i < model->cores[c].member_count; i++)
            find_l2_profile(model, &model->cores[c].members[i]);
    if (!contend_at(model, false, below, error) || !contend_at(model, true, above, error))
        return false;
    for (uint32_t c = 0; c < model->core_count; c++)
        for (uint32_t i = 0; i < model->cores[c].member_count; i++)
            set_extra_l2(&model->cores[c].members[i], *below++, *above++);
    return true;
}

static bool run_rounds(struct model *model, struct error *error) {
    if (!find_speeds(model, error))
        return false;
    for (uint32_t c = 0; c < model->core_count; c++) {
        struct core *core = &model->cores[c];
        for (uint32_t i = 0; i < core->member_count; i++)
            core->members[i].thread.ipc_alone = core->members[i].thread.ipc;
        run_simple_models(core);
    }
    for (uint32_t round = 0; round <= model->options->rounds; round++) {
        for (uint32_t c = 0; c < model->core_count; c++)
            for (uint32_t which = 0; which <= L1D; which++)
                if (!contend_in_core(model, &model->cores[c], which, error))
                    return false;
        if (!contend_in_l2(model, error) || !find_speeds(model, error))
            return false;
    }
    return true;
}

/* ---- which cores and threads are alike ---- */

static struct member *find_member(const struct core *core, const struct locality *program) {
    const size_t i = index_where(k, core->member_count, core->members[k].program == program);
    return i < core->member_count ? &core->members[i] : NULL;
}

static void add_member(struct model *model, struct core *core, const struct locality *program) {
    struct member *member = find_member(core, program);
    if (!member) {
        const struct locality_level *levels = program->levels;
        member = &core->members[core->member_count++];
        *member =
            (struct member){.program = program,
                            .thread = {.l1d_alone = rate(program, levels[0].misses),
                                       .l2_alone = rate(program, levels[model->level].misses)}};
    }
    member->copies++;
    core->threads++;
}

static bool same_programs(const struct core *a, const struct core *b) {
    if (a->member_count != b->member_count)
        return false;
    for (uint32_t i = 0; i < a->member_count; i++) {
        const struct member *other = find_member(b, a->members[i].program);
        if (!other || other->copies != a->members[i].copies)
            return false;
    }
    return true;
}

/* The number of the core among those that differ. */
static uint32_t add_core(struct model *model, struct member *members,
                         const struct locality *const *programs, uint32_t threads) {
    struct core *core = &model->cores[model->core_count];
    *core = (struct core){.members = members};
    for (uint32_t t = 0; t < threads; t++)
        if (programs[t])
            add_member(model, core, programs[t]);
    model->thread_count += core->threads;
    const uint32_t same =
        (uint32_t)index_where(i, model->core_count, same_programs(&model->cores[i], core));
    model->core_count += same == model->core_count;
    model->cores[same].copies++;
    return same;
}

static bool same_shape(const struct cache_shape *shape, const struct machine_cache *cache) {
    return shape->line == cache->line && shape->ways == cache->ways &&
           shape->sets == cache->size / cache->ways / cache->line;
}

static bool check_programs(const struct model *model, const struct locality *const *programs,
                           uint32_t count, struct error *error) {
    const struct machine *machine = model->options->machine;
    bool any = false;
    for (uint32_t i = 0; i < count; i++) {
        const struct locality *program = programs[i];
        if (!program)
            continue;
        any = true;
        if (model->level >= program->level_count ||
            !same_shape(&program->levels[0].shape, &machine->l1d) ||
            !same_shape(&program->levels[model->level].shape, &machine->l2))
            return error_set(error,
                             "the profile of %.200s is of other caches than those of machine %s "
                             "(profile it again)",
                             program->program ? program->program : "a program", machine->name);
    }
    return any || error_set(error, "no hardware thread has a program");
}

static bool build(struct model *model, const struct locality *const *programs,
                  struct error *error) {
    const struct machine_chip *is = &model->options->machine->chip;
    const uint32_t count = is->cores * is->threads;
    if (is->threads > MARKOV_MAX_THREADS || count > CONTENTION_MAX_THREADS)
        return error_set(error, "%u cores of %u threads: the models take %d threads of %d a core",
                         is->cores, is->threads, CONTENTION_MAX_THREADS, MARKOV_MAX_THREADS);
    if (!check_programs(model, programs, count, error))
        return false;
    model->cores = calloc(is->cores, sizeof *model->cores);
    model->core_of = calloc(is->cores, sizeof *model->core_of);
    model->members = calloc(count, sizeof *model->members);
    model->sharers = calloc(count, sizeof *model->sharers);
    model->extra = calloc(2 * (size_t)count, sizeof *model->extra);
    if (!model->cores || !model->core_of || !model->members || !model->sharers || !model->extra)
        return error_set(error, "out of memory for a chip of %u threads", count);
    for (uint32_t c = 0; c < is->cores; c++)
        model->core_of[c] = add_core(model, &model->members[c * is->threads],
                                     &programs[c * is->threads], is->threads);
    return true;
}

static bool report_result(const struct model *model, const struct locality *const *programs,
                          struct throughput_result *result, struct error *error) {
    const struct machine_chip *is = &model->options->machine->chip;
    const uint32_t count = is->cores * is->threads;
    result->cores = is->cores;
    result->threads = is->threads;
    result->by_thread = calloc(count, sizeof *result->by_thread);
    result->by_core = calloc(is->cores, sizeof *result->by_core);
    if (!result->by_thread || !result->by_core)
        return error_set(error, "out of memory for a chip of %u threads", count);
    for (uint32_t c = 0; c < is->cores; c++) {
        const struct core *core = &model->cores[model->core_of[c]];
        result->by_core[c] = core->predicted;
        for (uint32_t model = 0; model < THROUGHPUT_MODELS; model++)
            result->ipc[model] += core->predicted.ipc[model];
        for (uint32_t t = c * is->threads; t < (c + 1) * is->threads; t++)
            if (programs[t])
                result->by_thread[t] = find_member(core, programs[t])->thread;
    }
    return true;
}

bool throughput_predict(const struct locality *const *programs, uint32_t level,
                        const struct throughput_options *options, struct throughput_result *result,
                        struct error *error) {
    struct model model = {
        .options = options, .penalties = chip_penalties(options->machine), .level = level};
    *result = (struct throughput_result){0};
    const bool good = build(&model, programs, error) && run_rounds(&model, error) &&
                      report_result(&model, programs, result, error);
    free(model.cores);
    free(model.core_of);
    free(model.members);
    free(model.sharers);
    free(model.extra);
    return good;
}

void throughput_free(struct throughput_result *result) {
    free(result->by_thread);
    free(result->by_core);
    *result = (struct throughput_result){0};
}
