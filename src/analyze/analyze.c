/* Frequencies are estimated twice: the first estimate tells how often each edge into a block is
 * taken, and the block's schedule depends on that. */
#include "analyze/analyze.h"

#include <stdlib.h>
#include <string.h>

/* Gathers samples by instruction, from those at its first byte. */
static void gather(struct analysis *analysis, const struct procedure_samples *samples) {
    const struct cfg *cfg = &analysis->cfg;
    double total = 0, found = 0;
    for (size_t i = 0; i < cfg->code->size; i++)
        total += samples->cycles[i];
    for (uint32_t i = 0; i < cfg->insn_count; i++) {
        analysis->cycles[i] = samples->cycles[cfg->insns[i].offset];
        found += analysis->cycles[i];
    }
    analysis->lost = total > found ? total - found : 0;
}

/* The executions of edges, for the schedule's means. */
static void weigh(struct analysis *analysis, double *edges) {
    const struct frequency *frequency = &analysis->frequency;
    for (uint32_t i = 0; i < analysis->cfg.edge_count; i++)
        edges[i] = frequency->edges[i].executions;
    schedule_weigh(&analysis->schedule, &analysis->cfg, edges);
}

static bool estimate(struct analysis *analysis, const struct procedure_samples *samples,
                     const bool *suspect, double *edges, struct error *error) {
    const struct cfg *cfg = &analysis->cfg;
    if (!equivalence_find(&analysis->equivalence, cfg, error))
        return false;
    for (int round = 0; round < 2; round++) {
        frequency_free(&analysis->frequency);
        if (!frequency_estimate(&analysis->frequency, cfg, &analysis->equivalence,
                                &analysis->schedule, analysis->cycles, samples->period, suspect,
                                error))
            return false;
        weigh(analysis, edges);
    }
    return true;
}

static bool count_exactly(struct analysis *analysis, const double *by_offset, struct error *error) {
    const struct cfg *cfg = &analysis->cfg;
    double *executions = malloc((cfg->insn_count + 1u) * sizeof *executions);
    if (!executions)
        return error_set(error, "out of memory for the analysis");
    for (uint32_t i = 0; i < cfg->insn_count; i++)
        executions[i] = by_offset[cfg->insns[i].offset];
    bool good = frequency_exact(&analysis->frequency, cfg, executions, error);
    free(executions);
    return good;
}

/* No instruction has a best case. */
static bool schedule_nothing(struct analysis *analysis, struct error *error) {
    struct schedule *schedule = &analysis->schedule;
    const uint32_t count = analysis->cfg.insn_count;
    schedule->cycles = calloc(count + 1u, sizeof *schedule->cycles);
    schedule->least = calloc(count + 1u, sizeof *schedule->least);
    schedule->most = calloc(count + 1u, sizeof *schedule->most);
    return (schedule->cycles && schedule->least && schedule->most) ||
           error_set(error, "out of memory for the analysis");
}

/* Executions, and how often edges are taken, that are not known. */
static bool count_nothing(struct analysis *analysis, struct error *error) {
    struct frequency *frequency = &analysis->frequency;
    frequency->blocks = calloc(analysis->cfg.block_count + 1u, sizeof *frequency->blocks);
    frequency->edges = calloc(analysis->cfg.edge_count + 1u, sizeof *frequency->edges);
    return (frequency->blocks && frequency->edges) ||
           error_set(error, "out of memory for the analysis");
}

/* Culprits of the stalls where the processor waited. Nothing bounds them but what the code rules
 * out. */
static bool find_late_culprits(struct analysis *analysis, const struct procedure_samples *samples,
                               const struct analysis_options *options, struct error *error) {
    const struct cfg *cfg = &analysis->cfg;
    struct frequency unknown = {0};
    double *placed = calloc(cfg->code->size + 1, sizeof *placed);
    unknown.blocks = calloc(cfg->block_count + 1u, sizeof *unknown.blocks);
    unknown.edges = calloc(cfg->edge_count + 1u, sizeof *unknown.edges);
    bool good = (placed && unknown.blocks && unknown.edges) ||
                error_set(error, "out of memory for the analysis");
    for (uint32_t i = 0; good && i < cfg->insn_count; i++)
        placed[cfg->insns[i].offset] = analysis->cycles[i];
    const struct procedure_samples here = {.cycles = placed, .period = samples->period};
    good = good && culprits_find(&analysis->culprits, cfg, options->machine, &analysis->schedule,
                                 &unknown, analysis->possible, &here, error);
    frequency_free(&unknown);
    free(placed);
    return good;
}

/* `analysis->cycles` become those of where the processor waited. */
static bool analyze_late(struct analysis *analysis, const struct procedure_samples *samples,
                         const struct analysis_options *options, struct error *error) {
    struct late *late = &analysis->late;
    if (!late_place(late, &analysis->cfg, options->skid, analysis->cycles, samples->period,
                    analysis->possible, error))
        return false;
    for (uint32_t i = 0; i < analysis->cfg.insn_count; i++)
        analysis->cycles[i] = late->insns[i].likely;
    return schedule_nothing(analysis, error) &&
           (options->executions ? count_exactly(analysis, options->executions, error)
                                : count_nothing(analysis, error)) &&
           find_late_culprits(analysis, samples, options, error);
}

static bool analyze_scheduled(struct analysis *analysis, const struct procedure_samples *samples,
                              const struct analysis_options *options, bool *suspect, double *edges,
                              struct error *error) {
    struct cfg *cfg = &analysis->cfg;
    if (!schedule_make(&analysis->schedule, options->scheduler, cfg, analysis->cycles, error))
        return false;
    for (uint32_t i = 0; i < cfg->insn_count; i++)
        suspect[i] = analysis->possible[i] != 0;
    if (!(options->executions ? count_exactly(analysis, options->executions, error)
                              : estimate(analysis, samples, suspect, edges, error)))
        return false;
    weigh(analysis, edges);
    return culprits_find(&analysis->culprits, cfg, options->machine, &analysis->schedule,
                         &analysis->frequency, analysis->possible, samples, error);
}

bool analyze_procedure(struct analysis *analysis, const struct procedure_code *code,
                       const struct procedure_samples *samples,
                       const struct analysis_options *options, struct error *error) {
    memset(analysis, 0, sizeof *analysis);
    struct cfg *cfg = &analysis->cfg;
    if (!cfg_build(cfg, code, error))
        return false;
    analysis->cycles = malloc((cfg->insn_count + 1u) * sizeof *analysis->cycles);
    analysis->possible = malloc((cfg->insn_count + 1u) * sizeof *analysis->possible);
    bool *suspect = malloc(cfg->insn_count + 1u);
    double *edges = malloc((cfg->edge_count + 1u) * sizeof *edges);
    bool good = (analysis->cycles && analysis->possible && suspect && edges) ||
                error_set(error, "out of memory for the analysis");
    if (good)
        gather(analysis, samples);
    good = good && culprits_possible(cfg, options->machine, analysis->possible, error) &&
           (options->skid ? analyze_late(analysis, samples, options, error)
                          : analyze_scheduled(analysis, samples, options, suspect, edges, error));
    free(edges);
    free(suspect);
    return good;
}

void analysis_free(struct analysis *analysis) {
    culprits_free(&analysis->culprits);
    frequency_free(&analysis->frequency);
    schedule_free(&analysis->schedule);
    equivalence_free(&analysis->equivalence);
    cfg_free(&analysis->cfg);
    late_free(&analysis->late);
    free(analysis->cycles);
    free(analysis->possible);
    memset(analysis, 0, sizeof *analysis);
}

double analysis_cpi(const struct analysis *analysis, uint32_t insn) {
    uint32_t block = analysis->cfg.insns[insn].block;
    double executions = analysis->frequency.blocks[block].executions;
    return executions > 0 ? analysis->cycles[insn] / executions : 0;
}
