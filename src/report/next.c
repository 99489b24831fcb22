/* Processes left out come first: they may be most of the run. Then, idealising the costliest cause
 * answers "what if"; where that has been done, or nothing stands out, source lines show more. Which
 * is the costliest, the report's own what-ifs say; where it has none, the cycles of each event. */
#include "report/next.h"

#include <stdlib.h>
#include <string.h>

#include "core/core.h"
#include "simulate/thread_what_if.h"
#include "util/text.h"

/* What takes away each component; 0: nothing does. */
static const unsigned IDEALS[COMPONENT_COUNT] = {
    [COMPONENT_LLC_MISS] = IDEAL_DMISS,   [COMPONENT_MISPREDICT] = IDEAL_BMISP,
    [COMPONENT_TLB_MISS] = IDEAL_DMISS,   [COMPONENT_L1_MISS] = IDEAL_DMISS,
    [COMPONENT_FRONT_END] = IDEAL_IMISS,  [COMPONENT_STORES] = IDEAL_DMISS,
    [COMPONENT_FORWARDING] = IDEAL_STFWD,
};

/* One of these that saves most, and its share of the run. */
static unsigned saves_most(const struct multisim_cost costs[MULTISIM_CATEGORIES], double *share) {
    unsigned best = 0;
    *share = 0;
    for (int i = 0; i < COMPONENT_COUNT; i++) {
        const double saved = IDEALS[i] ? costs[__builtin_ctz(IDEALS[i])].share : 0;
        if (saved > *share) {
            best = IDEALS[i];
            *share = saved;
        }
    }
    return best;
}

/* One that takes away the component with most cycles, and their share of the run. */
static unsigned has_most(const struct report *report, double *share) {
    uint64_t units[COMPONENT_COUNT];
    stack_components(&report->stack, units);
    int best = COMPONENT_LLC_MISS;
    for (int i = 0; i < COMPONENT_COUNT; i++)
        if (IDEALS[i] && units[i] > units[best])
            best = i;
    const double total = (double)report->simulation->cycles * CYCLE_UNITS;
    *share = total > 0 ? (double)units[best] / total : 0;
    return IDEALS[best];
}

/* The idealisation that takes away the costliest cause, if that is at least a twentieth. */
static const char *choose_ideal(const struct report *report) {
    const struct thread_what_ifs *threads = report->threads.what_ifs;
    const bool partial = threads && (threads->left_out || threads->interrupted);
    struct multisim_cost costs[MULTISIM_CATEGORIES];
    double share;
    const unsigned ideal = advice_costs(report, costs) && !partial ? saves_most(costs, &share)
                                                                   : has_most(report, &share);
    return share * 20 >= 1 ? ideal_name((unsigned)__builtin_ctz(ideal)) : NULL;
}

char *next_with_option(const char *option, int argc, char **argv) {
    struct text_printer printer;
    FILE *file = text_printer_begin(&printer);
    if (!file)
        return NULL;
    fprintf(file, "%s %s", argv[0], option);
    for (int i = 1; i < argc; i++) {
        if (!argv[i])
            continue;
        fputc(' ', file);
        text_put_word(file, argv[i]);
    }
    return text_printer_end(&printer);
}

/* How many words at `i` are the option of this name: 0, 1 (--name=VALUE) or 2. */
static int typed(const char *name, size_t length, int i, int end, char **argv) {
    if (!argv[i] || strncmp(argv[i], name, length) != 0)
        return 0;
    return argv[i][length] == '=' ? 1 : argv[i][length] == '\0' && i + 1 < end ? 2 : 0;
}

char *next_in_place(const char *option, char *const *command, int argc, char **argv) {
    const size_t length = strcspn(option, " ");
    int end = 1;
    while (end < argc && !(command && argv[end] == command[0]))
        end++;
    char **words = malloc((size_t)argc * sizeof *words);
    if (!words)
        return NULL;
    memcpy(words, argv, (size_t)argc * sizeof *words);
    for (int i = 1; i < end; i++)
        for (int k = typed(option, length, i, end, argv); k > 0; k--)
            words[i + k - 1] = NULL;
    char *text = next_with_option(option, argc, words);
    free(words);
    return text;
}

/* "culprit sharing -- COMMAND...": which lines the threads of a command move between cores. */
static char *next_sharing(char *const *command) {
    struct text_printer printer;
    FILE *file = text_printer_begin(&printer);
    if (!file)
        return NULL;
    fputs("culprit sharing --", file);
    text_put_words(file, command);
    return text_printer_end(&printer);
}

char *next_command(const struct report *report, bool unfollowed, char *const *command, int argc,
                   char **argv) {
    const char *ideal = report->ideal ? NULL : choose_ideal(report);
    char option[32] = "--by line";
    if (unfollowed)
        strcpy(option, "--follow");
    else if (!report->simulation->cycles)
        return NULL;
    else if (command && report->threads.first == CAUSE_COHERENCE)
        return next_sharing(command);
    else if (ideal)
        snprintf(option, sizeof option, "--ideal %s", ideal);
    else if (report->by != BY_FUNCTION)
        return NULL;
    return next_in_place(option, command, argc, argv);
}

char *next_on_machine(const char *verb, const struct machine_options *machine,
                      char *const *command) {
    struct text_printer printer;
    FILE *file = text_printer_begin(&printer);
    if (!file)
        return NULL;
    fputs(verb, file);
    text_put_option(file, "machine", machine->machine);
    for (uint32_t i = 0; i < machine->setting_count; i++)
        text_put_option(file, "set", machine->settings[i]);
    fputs(" --", file);
    text_put_words(file, command);
    return text_printer_end(&printer);
}
