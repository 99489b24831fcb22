/* What the figures of a procedure rest on, and what to do about it. */
#include <math.h>
#include <string.h>

#include "report/annotation.h"
#include "report/estimated.h"
#include "util/text.h"

/* What late samples can tell and what not. */
static bool note_late(struct annotation *annotation) {
    const struct late *late = &annotation->input.analysis->late;
    struct report *report = &annotation->report;
    const double elsewhere = late->total > 0 ? 100 * late->elsewhere.likely / late->total : 0;
    bool good = report_note(
        report, "the processor executes out of order: causes are those that the code does not rule "
                "out, with the share of the time in which each can have been what was waited for. "
                "Where several are left, samples do not tell which");
    if (!annotation->input.exact && !annotation->input.simulated)
        good &= report_note(report, "how often instructions were executed is not known, as such "
                                    "samples do not tell it either: --simulate -- COMMAND counts "
                                    "it, and shows what each instruction waits for");
    if (elsewhere >= 0.1)
        good &= report_note(report,
                            "%.1f %% of the samples are most likely of callers and callees: "
                            "they lie behind a call or at the beginning",
                            elsewhere);
    return good;
}

static bool note_simulated(struct annotation *annotation) {
    const struct annotation_simulated *simulated = annotation->input.simulated;
    if (!simulated)
        return true;
    return report_note(
               &annotation->report,
               "simulated: the share of the procedure's cycles and what they went to (ST-L1 "
               "and others as in culprit explain), without the kernel and execution down wrong "
               "paths, but for lines that a machine with core.wrong_path fetches there. What a "
               "mispredicted branch costs is the branch's in the simulation (FL-MB), and in the "
               "samples that of the instruction behind it") &&
           (simulated->same_command
                ? report_note(&annotation->report,
                              "executions are those of the simulation, as if each epoch had run "
                              "the command once")
                : report_note(&annotation->report,
                              "what was simulated is not the command of the epochs: how often "
                              "instructions were executed in these is not known"));
}

/* Executions are counted as if each epoch had run what was simulated. A trace of a part of the run
 * has too few of them, which the cycles of both tell: machines differ less. */
static bool note_other_length(struct annotation *annotation) {
    enum { NOTED_TIMES = 5, LEAST_SAMPLES = 10 };
    const struct annotation_input *input = &annotation->input;
    const struct annotation_simulated *simulated = input->simulated;
    if (!simulated || !simulated->same_command || !input->event->period)
        return true;
    const double epochs = (double)input->set->epoch_count;
    const double live = input->profile->sum_cycles,
                 counted = simulated->profile->sum_cycles * epochs;
    if (fmax(live, counted) < NOTED_TIMES * fmin(live, counted) ||
        fmax(live, counted) < LEAST_SAMPLES * input->profile->period)
        return true;
    return report_note(&annotation->report,
                       "the samples are of %s cycles of the procedure, the simulation has %s: one "
                       "of them is of a part of the run, and executions and CPI beside the samples "
                       "are wrong by about as much",
                       text_quantity(live).s, text_quantity(counted).s);
}

static bool note_event(struct annotation *annotation) {
    const struct profile_event *event = annotation->input.event;
    struct report *report = &annotation->report;
    bool good = true;
    if (annotation_is_late(annotation))
        good &= note_late(annotation);
    else if (!strcmp(event->name, "cpu-clock"))
        good &=
            report_note(report, "cpu-clock is a timer's interrupt: a sample lies some instructions "
                                "behind the one that took the time. Figures and culprits of single "
                                "instructions are hints; the samples of blocks and loops hold "
                                "better, and their executions and CPI as far as the confidence "
                                "goes");
    else if (!event->precise && !strcmp(event->unit, "samples"))
        good &= report_note(report,
                            "%s is not precise here: a sample may lie some instructions behind "
                            "the one that caused it. Culprits of single instructions are hints; "
                            "the samples of blocks and loops hold better, and their executions and "
                            "CPI as far as the confidence goes",
                            event->name);
    if (event->periods_differ)
        good &= report_note(report, "the epochs were sampled at different distances: each sample "
                                    "counts as many cycles as its own");
    if (!event->period && !strcmp(event->unit, "samples"))
        good &= report_note(report, "how far apart the samples were is not known: executions and "
                                    "cycles are in samples");
    else if (!strcmp(event->period_unit, "ns") && event->period)
        good &= report_note(report,
                            "samples were taken by time: executions and cycles assume a clock of "
                            "%.3g GHz",
                            annotation->input.machine->clock_ghz);
    return good;
}

static bool note_machine(struct annotation *annotation) {
    const struct machine *machine = annotation->input.machine;
    if (annotation->input.own_machine || annotation_is_late(annotation))
        return true;
    return report_note(&annotation->report,
                       "the schedule, and with it best cases and stalls, is that of machine %s, "
                       "not of the processor that ran this (--machine chooses another)",
                       machine->name);
}

/* How much of the cycles lies in blocks of each confidence. */
static bool note_confidence(struct annotation *annotation) {
    const struct analysis *analysis = annotation->input.analysis;
    double cycles[CONFIDENCE_HIGH + 1] = {0}, all = 0;
    for (uint32_t i = 0; i < analysis->cfg.block_count; i++) {
        cycles[analysis->frequency.blocks[i].confidence] += annotation->blocks[i].cycles;
        all += annotation->blocks[i].cycles;
    }
    if (annotation_is_late(annotation))
        return true;
    if (annotation->input.exact)
        return report_note(&annotation->report,
                           "executions were counted in the simulation, not estimated");
    if (!(all > 0))
        return true;
    return report_note(
        &annotation->report,
        "executions are estimated from the samples: with high confidence for %.0f %% of the "
        "cycles, medium for %.0f %%, low for %.0f %%; not known for %.0f %%",
        100 * cycles[CONFIDENCE_HIGH] / all, 100 * cycles[CONFIDENCE_MEDIUM] / all,
        100 * cycles[CONFIDENCE_LOW] / all, 100 * cycles[CONFIDENCE_NONE] / all);
}

/* Samples at a typical instruction of the code that has nine tenths of them: the error of sampling
 * of a figure is 1/√n of it. */
static bool note_samples(struct annotation *annotation) {
    enum { WANTED = 100 };
    const struct analysis *analysis = annotation->input.analysis;
    double period = annotation->input.profile->period, samples = 0, all = 0;
    double wanted = annotation->input.profile->sum_cycles / period;
    uint32_t points = 0;
    if (strcmp(annotation->input.event->unit, "samples") != 0)
        return true;
    for (uint32_t i = 0; i < analysis->cfg.block_count && samples < 0.9 * wanted; i++) {
        const struct cfg_block *block = &analysis->cfg.blocks[annotation->hottest[i]];
        samples += annotation->blocks[annotation->hottest[i]].cycles / period;
        for (uint32_t k = block->first_insn; k < block->first_insn + block->insn_count; k++)
            points += analysis->cycles[k] > 0;
    }
    all = wanted;
    double each = points ? samples / points : 0;
    if (!(each > 0) || each >= WANTED)
        return true;
    return report_note(&annotation->report,
                       "%s sample%s few: %.*f at an instruction of the hottest blocks, so that "
                       "its figures are known to ± %.0f %%; about %s samples would give ± %.0f %%",
                       text_grouped((uint64_t)(all + 0.5)).s, round(all) == 1 ? " is" : "s are",
                       each < 10, each, 100 / sqrt(each),
                       text_count((uint64_t)(all * WANTED / each + 0.5)).s, 100 / sqrt(WANTED));
}

/* Late interrupts end at instructions, too: such samples are of other code, or of other addresses.
 */
static bool note_lost(struct annotation *annotation) {
    enum { NOTED_PERCENT = 10 };
    double lost = annotation->input.analysis->lost;
    double all = lost + annotation->input.analysis->culprits.summary.total;
    if (!(lost > 0) || 100 * lost < NOTED_PERCENT * all)
        return true;
    return report_note(&annotation->report,
                       "%s %% of the samples lie where no instruction begins and are left out: "
                       "their addresses may be of a different file",
                       text_percent(lost, all).s);
}

/* Cycles below the best case cannot be many where executions and machine are right. */
static bool note_gain(struct annotation *annotation) {
    enum { NOTED_PERCENT = 10 };
    const struct stall_summary *summary = &annotation->input.analysis->culprits.summary;
    double percent = summary->total > 0 ? 100 * summary->unexplained_gain / summary->total : 0;
    if (percent < NOTED_PERCENT || annotation_is_late(annotation))
        return true;
    return report_note(
        &annotation->report,
        "instructions took %.0f %% of all cycles less than the best case: executions "
        "are estimated too high, or machine %s is slower than what ran this. Do not "
        "build on the figures of such blocks",
        percent, annotation->input.machine->name);
}

static bool note_graph(struct annotation *annotation) {
    const struct cfg *cfg = &annotation->input.analysis->cfg;
    struct report *report = &annotation->report;
    bool good = true;
    if (cfg->flags & CFG_MISSING_EDGES)
        good &= report_note(report,
                            "%u indirect jump%s may lead to places that the code does not show: %s",
                            cfg->unresolved, text_plural(cfg->unresolved),
                            annotation_is_late(annotation)
                                ? "where samples at the beginning of a block belong is known less"
                                : "every block's executions are estimated by themselves");
    if (cfg->flags & CFG_OVERLAPPING)
        good &= report_note(report, "some instructions share bytes: jumps lead into the middle of "
                                    "others");
    if (cfg->flags & CFG_UNDECODABLE)
        good &= report_note(report, "some bytes that control reaches are no instructions that are "
                                    "known here");
    if (cfg->flags & CFG_RUNS_OUT)
        good &= report_note(report, "control runs past the procedure's end: its extent is not "
                                    "known well, or its code is cut off");
    return good;
}

static bool note_rest(struct annotation *annotation) {
    const struct annotation_input *input = &annotation->input;
    const struct procedure_profile *profile = input->profile;
    struct report *report = &annotation->report;
    bool good = true;
    if (profile->other_builds > 0)
        good &=
            report_note(report, "%s %s in other builds of %s are left out: their code is not here",
                        text_count((uint64_t)(profile->other_builds + 0.5)).s, input->event->unit,
                        input->image);
    if (profile->part_count && !input->machine->core.in_order)
        good &= report_note(report, "exact: what the simulation says the cycles went to (ST-L1 and "
                                    "others as in culprit explain); the rest is inferred from "
                                    "samples alone");
    return good;
}

/* The cycles of the epochs themselves. Of a simulation alone there are none. */
static bool note_estimated(struct annotation *annotation) {
    const struct annotation_input *input = &annotation->input;
    return !input->event || !input->event->estimated.epochs ||
           estimated_note(input->set, input->event, &annotation->report);
}

bool annotation_add_worth(struct annotation *annotation) {
    return note_estimated(annotation) && note_event(annotation) && note_samples(annotation) &&
           note_lost(annotation) && note_confidence(annotation) && note_machine(annotation) &&
           note_gain(annotation) && note_graph(annotation) && note_simulated(annotation) &&
           note_other_length(annotation) && note_rest(annotation);
}
