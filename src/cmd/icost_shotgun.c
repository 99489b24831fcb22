/* The options that say how samples are taken and fragments constructed, and notes on what came of
 * it. */
#include "cmd/icost_shotgun.h"

#include <inttypes.h>
#include <math.h>

#include "cmd/options.h"
#include "util/text.h"

enum { MAX_FRAGMENTS = 1 << 20 };

struct shotgun_choice shotgun_choice_default(void) {
    return (struct shotgun_choice){
        .options = {.period = SHOTGUN_PERIOD, .length = SHOTGUN_LENGTH, .seed = 1, .truth = true},
        .fragments = SHOTGUN_FRAGMENTS,
        .design = SHOTGUN_LONG_AND_SHORT};
}

static void take_fragments(struct argp_state *state, void *request, char *value) {
    if (value)
        ((struct shotgun_choice *)request)->fragments =
            (uint32_t)options_count_within(state, "--shotgun", value, 1, MAX_FRAGMENTS);
}

static void take_design(struct argp_state *state, void *request, char *value) {
    struct shotgun_choice *choice = request;
    choice->design = (enum shotgun_design)options_count_within(
        state, "--shotgun-design", value, SHOTGUN_PERFECT, SHOTGUN_LONG_AND_SHORT);
    choice->options.perfect = choice->design == SHOTGUN_PERFECT;
}

static void take_pc_bit(struct argp_state *state, void *request, char *value) {
    ((struct shotgun_choice *)request)->options.pc_bit =
        1 +
        (uint32_t)options_count_within(state, "--shotgun-pc-bit", value, 0, SHOTGUN_PC_BITS - 1);
}

/* Each of them asks for it. */
#define REQUEST struct shotgun_choice
static const struct option_row OPTIONS[] = {
    HEADING(7, "Shotgun profiling:"),
    TAKE("shotgun", "N", take_fragments,
         "Also from N fragments of the graph, constructed from sparse samples as hardware could "
         "take them (default 1024)",
         .optional = true, GIVEN(wanted)),
    TAKE("shotgun-design", "1-4", take_design,
         "1 every instruction measured, 2 one sample for each static instruction, 3 short "
         "signatures, 4 long and short ones (default)",
         GIVEN(wanted)),
    TEXT("shotgun-file", "FILE", path,
         "From the samples that a shotgun tap of 'culprit sim' wrote to FILE; no command, no "
         "trace",
         GIVEN(wanted)),
    COUNT("shotgun-length", "N", options.length, "Instructions of a fragment (default 2000)",
          .least = 1, .most = SHOTGUN_LENGTH_MAX, GIVEN(wanted)),
    TAKE("shotgun-pc-bit", "N", take_pc_bit,
         "Signatures have a third bit, that bit of the program counter, 0 to 11 (default: they "
         "have two)",
         GIVEN(wanted)),
    COUNT("shotgun-period", "N", options.period,
          "A detailed sample every N instructions, on the average (default 50; twice as many each "
          "time that 262,144 have been taken)",
          .least = SHOTGUN_PERIOD_MIN, .most = UINT32_MAX, GIVEN(wanted)),
    {0}};

const struct option_group shotgun_group = {.options = OPTIONS};

/* ---- notes ---- */

static struct text percent(uint64_t part, uint64_t of) {
    return text_percent((double)part, of ? (double)of : 1);
}

static bool note_samples(struct report *report, const struct shotgun_choice *choice,
                         const struct shotgun_statistics *statistics, const char *of) {
    uint64_t insns = 0;
    for (int i = 0; i < SHOTGUN_NOTHING; i++)
        insns += statistics->sources[i];
    uint64_t complete = statistics->outcomes[SHOTGUN_COMPLETE];
    if (choice->design == SHOTGUN_PERFECT)
        return report_note(report,
                           "profiler%s: %" PRIu64 " fragments of %" PRIu32
                           " instructions as the graph has them",
                           of, complete, choice->options.length);
    return report_note(
        report,
        "profiler%s: %" PRIu64 " fragments of up to %" PRIu32 " instructions from %" PRIu64
        " detailed and %" PRIu64 " signature samples; of their instructions %s %% had no sample "
        "and were inferred, %s %% had none with the same signatures",
        of, complete, choice->options.length, statistics->samples, statistics->skeletons,
        percent(statistics->sources[SHOTGUN_MISSING], insns).s,
        percent(statistics->sources[SHOTGUN_INEXACT], insns).s);
}

/* Against the paths that were executed, which the simulation knows. */
static bool note_paths(struct report *report, const struct shotgun_statistics *statistics,
                       const char *of) {
    uint64_t tried = 0;
    for (int i = 0; i < SHOTGUN_OUTCOMES; i++)
        tried += statistics->outcomes[i];
    if (!statistics->validated)
        return true;
    if (tried == statistics->outcomes[SHOTGUN_COMPLETE] && statistics->errant == 0)
        return report_note(report, "profiler%s: all fragments are of paths that were executed", of);
    char left[128] = "none had left the path that was executed", targets[128] = "";
    if (statistics->errant)
        snprintf(left, sizeof left,
                 "%" PRIu64 " had left the path that was executed, of which %s %% were discarded",
                 statistics->errant, percent(statistics->errant_discarded, statistics->errant).s);
    if (statistics->targets)
        snprintf(targets, sizeof targets,
                 "; of %" PRIu64 " targets that samples gave %s %% were right", statistics->targets,
                 percent(statistics->targets_right, statistics->targets).s);
    return report_note(report,
                       "profiler%s: of %" PRIu64 " attempts at a fragment %" PRIu64
                       " were discarded; %s%s",
                       of, tried, tried - statistics->outcomes[SHOTGUN_COMPLETE], left, targets);
}

/* Code that is executed seldom has few samples: its fragments are discarded, and with them what it
 * waited for. Of ten programs the error was 4 % or less where the discarded had up to a tenth of
 * the misses and mispredictions, and 5 to 18 % where they had more. Of a short run there may also
 * be too few fragments to be like it. */
static bool is_biased(const struct shotgun_statistics *statistics) {
    const double tolerated_events = 0.1, tolerated_cpi = 0.2;
    return (double)statistics->events_discarded > tolerated_events * (double)statistics->events ||
           fabs(statistics->cpi - statistics->run_cpi) > tolerated_cpi * statistics->run_cpi;
}

static bool note_bias(struct report *report, const struct shotgun_choice *choice,
                      const struct shotgun_statistics *statistics, const char *of) {
    const uint32_t shorter = 500;
    const char *advice = choice->path                       ? "take samples of more of the run"
                         : choice->options.length > shorter ? "measure more of the run, or shorter "
                                                              "fragments: --shotgun-length 500"
                                                            : "measure more of the run";
    if (!is_biased(statistics))
        return true;
    return report_note(
        report,
        "profiler%s: biased, do not rely on it: its fragments take %.3f cycles per instruction, "
        "the run %.3f, and %s %% of the misses and mispredictions are in signature samples of "
        "which none could be constructed (%s)",
        of, statistics->cpi, statistics->run_cpi,
        percent(statistics->events_discarded, statistics->events).s, advice);
}

bool shotgun_note(struct report *report, const struct shotgun_choice *choice,
                  const struct shotgun_statistics *statistics, const char *of) {
    return note_samples(report, choice, statistics, of) && note_paths(report, statistics, of) &&
           note_bias(report, choice, statistics, of);
}
