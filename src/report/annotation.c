/* Blocks are summed up from their instructions; whatever is of one instruction is looked up when it
 * is asked for. */
#include "report/annotation.h"

#include <stdlib.h>
#include <string.h>

#include "util/order.h"

static const double LATE_SHARE = 0.01;

/* ---- causes ---- */

char annotation_letter(enum stall_cause cause) {
    static const char LETTERS[STALL_CAUSES] = {
        [STALL_NONE] = ' ',           [STALL_SLOT] = 's',           [STALL_DEPENDENCE] = 'r',
        [STALL_UNIT] = 'u',           [STALL_FETCH] = 't',          [STALL_IMISS] = 'i',
        [STALL_ITLB] = 'I',           [STALL_DMISS] = 'd',          [STALL_DTLB] = 'D',
        [STALL_MISPREDICT] = 'p',     [STALL_MISS_REGISTERS] = 'm', [STALL_WRITE_BUFFER] = 'w',
        [STALL_SYNCHRONISATION] = 'y'};
    return LETTERS[cause];
}

const enum stall_cause *annotation_dynamic_causes(size_t *count) {
    static const enum stall_cause CAUSES[] = {
        STALL_MISPREDICT, STALL_DMISS, STALL_WRITE_BUFFER,   STALL_DTLB,           STALL_IMISS,
        STALL_ITLB,       STALL_UNIT,  STALL_MISS_REGISTERS, STALL_SYNCHRONISATION};
    *count = sizeof CAUSES / sizeof *CAUSES;
    return CAUSES;
}

const enum stall_cause *annotation_static_causes(size_t *count) {
    static const enum stall_cause CAUSES[] = {STALL_SLOT, STALL_DEPENDENCE, STALL_UNIT,
                                              STALL_FETCH};
    *count = sizeof CAUSES / sizeof *CAUSES;
    return CAUSES;
}

/* ---- of an instruction ---- */

static const struct cfg *graph_of(const struct annotation *annotation) {
    return &annotation->input.analysis->cfg;
}

static double executions_of(const struct annotation *annotation, uint32_t insn) {
    return annotation->blocks[graph_of(annotation)->insns[insn].block].executions;
}

uint64_t annotation_address(const struct annotation *annotation, uint32_t insn) {
    return annotation->input.code->address + graph_of(annotation)->insns[insn].offset;
}

double annotation_stall(const struct annotation *annotation, uint32_t insn) {
    double executions = executions_of(annotation, insn);
    double stall = annotation->input.analysis->culprits.insns[insn].stall;
    return executions > 0 ? stall / executions : 0;
}

/* Of late samples: whether the instruction has so much of the time that its causes are told. */
static bool is_slow(const struct annotation *annotation, uint32_t insn) {
    const struct late *late = &annotation->input.analysis->late;
    return late->used && late->insns[insn].likely >= LATE_SHARE * late->total && late->total > 0;
}

/* All causes that are not excluded. */
static const char *late_bubble(const struct annotation *annotation, uint32_t insn,
                               char letters[ANNOTATION_LETTERS]) {
    size_t count, used = 0;
    const enum stall_cause *causes = annotation_dynamic_causes(&count);
    if (is_slow(annotation, insn)) {
        for (size_t i = 0; i < count; i++)
            if (annotation->input.analysis->late.causes[insn] & 1U << causes[i])
                letters[used++] = annotation_letter(causes[i]);
        letters[used++] = ANNOTATION_EXECUTION;
    }
    letters[used] = 0;
    return letters;
}

const char *annotation_bubble(const struct annotation *annotation, uint32_t insn,
                              char letters[ANNOTATION_LETTERS]) {
    if (annotation_is_late(annotation))
        return late_bubble(annotation, insn, letters);
    const struct culprits *culprits = &annotation->input.analysis->culprits;
    size_t count, used = 0;
    const enum stall_cause *causes = annotation_dynamic_causes(&count);
    if (annotation_stall(annotation, insn) >= ANNOTATION_SHOWN_CYCLES) {
        for (size_t i = 0; i < count; i++)
            for (uint32_t k = culprits->first[insn]; k < culprits->first[insn + 1]; k++)
                if (culprits->list[k].cause == causes[i]) {
                    letters[used++] = annotation_letter(causes[i]);
                    break;
                }
        if (!culprits->insns[insn].explained)
            letters[used++] = ANNOTATION_UNEXPLAINED;
    }
    letters[used] = 0;
    return letters;
}

const struct static_stall *annotation_static_stalls(const struct annotation *annotation,
                                                    uint32_t insn, size_t *count) {
    const struct schedule *schedule = &annotation->input.analysis->schedule;
    const struct static_stall *stalls = schedule->stalls;
    size_t first = first_where(i, schedule->stall_count, stalls[i].insn >= insn);
    *count = first_where(i, schedule->stall_count, stalls[i].insn > insn) - first;
    return stalls ? stalls + first : NULL;
}

static void blame(const struct annotation *annotation, uint32_t insn, uint32_t culprit,
                  uint64_t addresses[ANNOTATION_BLAMED], size_t *count) {
    if (culprit == CFG_NONE || culprit == insn || *count == ANNOTATION_BLAMED)
        return;
    uint64_t address = annotation_address(annotation, culprit);
    for (size_t i = 0; i < *count; i++)
        if (addresses[i] == address)
            return;
    addresses[(*count)++] = address;
}

void annotation_blamed(const struct annotation *annotation, uint32_t insn,
                       uint64_t addresses[ANNOTATION_BLAMED], size_t *count) {
    const struct culprits *culprits = &annotation->input.analysis->culprits;
    size_t stalls;
    const struct static_stall *stall = annotation_static_stalls(annotation, insn, &stalls);
    *count = 0;
    if (annotation_is_late(annotation)
            ? is_slow(annotation, insn)
            : annotation_stall(annotation, insn) >= ANNOTATION_SHOWN_CYCLES)
        for (uint32_t k = culprits->first[insn]; k < culprits->first[insn + 1]; k++)
            blame(annotation, insn, culprits->list[k].blamed, addresses, count);
    for (size_t i = 0; i < stalls; i++)
        if (stall[i].cycles >= ANNOTATION_SHOWN_CYCLES)
            blame(annotation, insn, stall[i].culprit, addresses, count);
}

void annotation_insn_text(const struct annotation *annotation, uint32_t insn, char *text,
                          size_t size) {
    const struct procedure_code *code = annotation->input.code;
    const struct cfg_insn *place = &graph_of(annotation)->insns[insn];
    size_t rest = code->size - place->offset;
    insn_text(code->isa, code->bytes + place->offset, rest, code->address + place->offset, text,
              size);
    uint64_t target = (uint64_t)place->insn.target + place->offset;
    bool direct = place->insn.branch == BRANCH_CALL || place->insn.branch == BRANCH_JUMP ||
                  place->insn.branch == BRANCH_CONDITIONAL;
    if (!direct || target < code->size || !code->name)
        return;
    const char *name = code->name(code->context, code->address + target);
    size_t used = strlen(text);
    if (name && used < size)
        snprintf(text + used, size - used, " <%s>", name);
}

/* 0 where the truth is not known. */
static double true_cycles(const struct annotation *annotation, enum stall_cause cause) {
    const double *stalls = annotation->input.profile->stalls[cause];
    double sum = 0;
    for (size_t i = 0; stalls && i < annotation->input.profile->size; i++)
        sum += stalls[i];
    return sum;
}

const double *annotation_truth(const struct annotation *annotation, double truth[STALL_CAUSES]) {
    if (!annotation->input.profile->has_stalls)
        return NULL;
    for (int cause = 0; cause < STALL_CAUSES; cause++)
        truth[cause] = true_cycles(annotation, (enum stall_cause)cause);
    return truth;
}

/* ---- building ---- */

static void sum_block(struct annotation *annotation, uint32_t number) {
    const struct analysis *analysis = annotation->input.analysis;
    const struct cfg_block *block = &analysis->cfg.blocks[number];
    struct annotation_block *sums = &annotation->blocks[number];
    sums->executions = analysis->frequency.blocks[number].executions;
    for (uint32_t i = block->first_insn; i < block->first_insn + block->insn_count; i++) {
        sums->values += annotation->input.profile->values[analysis->cfg.insns[i].offset];
        sums->cycles += analysis->cycles[i];
        sums->best += analysis->schedule.cycles[i];
    }
    if (sums->executions > 0) {
        sums->actual = sums->cycles / sums->executions;
        annotation->executed += sums->executions * block->insn_count;
        annotation->best += sums->executions * sums->best;
        annotation->cycles += sums->cycles;
    }
}

static int by_cycles(const void *left, const void *right, void *context) {
    const struct annotation_block *blocks = context;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return descending(blocks[a].cycles, blocks[b].cycles) ?: ascending(a, b);
}

static void locate(struct annotation *annotation) {
    const struct annotation_input *input = &annotation->input;
    const struct cfg *cfg = graph_of(annotation);
    for (uint32_t i = 0; i < cfg->insn_count; i++) {
        struct location location;
        program_locate(input->program, input->image_number,
                       input->extent->offset + cfg->insns[i].offset, &location);
        annotation->places[i] =
            (struct annotation_place){location.file, location.line,
                                      location.inline_count ? location.inlined[0].function : NULL};
    }
}

bool annotation_build(struct annotation *annotation, const struct annotation_input *input,
                      struct error *error) {
    const struct cfg *cfg = &input->analysis->cfg;
    *annotation = (struct annotation){.input = *input};
    annotation->blocks = calloc(cfg->block_count, sizeof *annotation->blocks);
    annotation->hottest = calloc(cfg->block_count, sizeof *annotation->hottest);
    if (input->program)
        annotation->places = calloc(cfg->insn_count, sizeof *annotation->places);
    if (!annotation->blocks || !annotation->hottest || (input->program && !annotation->places))
        return error_set(error, "out of memory for the report");
    for (uint32_t i = 0; i < cfg->block_count; i++) {
        sum_block(annotation, i);
        annotation->hottest[i] = i;
    }
    qsort_r(annotation->hottest, cfg->block_count, sizeof *annotation->hottest, by_cycles,
            annotation->blocks);
    if (annotation->places)
        locate(annotation);
    return annotation_find_loops(annotation) || error_set(error, "out of memory for the report");
}

void annotation_free(struct annotation *annotation) {
    free(annotation->places);
    free(annotation->blocks);
    free(annotation->hottest);
    free(annotation->loops);
    report_free(&annotation->report);
    *annotation = (struct annotation){0};
}
