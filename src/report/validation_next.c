/* What to do after a validation. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/next.h"
#include "report/validation.h"

static bool is_large(double error) {
    return error > 0.02 || error < -0.02;
}

/* Once more with another option; or, when all is well, the command explained. */
static char *next_of_command(const struct validation_asked *asked, double choice, bool cold) {
    if (cold)
        return next_in_place("--warm-up 100M,300M", asked->command, asked->argc, asked->words);
    if (is_large(choice))
        return next_in_place("--max-clusters 60", asked->command, asked->argc, asked->words);
    int first = (int)(asked->command - asked->argv) - 1;
    int count = asked->argc - first;
    char **words = malloc((size_t)count * sizeof *words);
    if (!words)
        return NULL;
    memcpy(words, asked->argv + first, (size_t)count * sizeof *words);
    words[0] = "culprit explain";
    char *next = next_with_option("--", count, words);
    free(words);
    return next;
}

char *validation_next(const struct validation_report *report,
                      const struct validation_asked *asked) {
    const struct validation *validation = report->validation;
    const struct validation_trial *verdict = validation_verdict(validation);
    double choice = validation_cpi_error(&validation->within, &validation->whole);
    bool cold = verdict && is_large(validation_cpi_error(&verdict->metrics, &validation->within));
    const char *list = asked->list;
    char *text = NULL;
    int length;
    if (asked->command)
        return next_of_command(asked, choice, cold);
    if (cold)
        length = asprintf(&text, "culprit validate --warm-up all --full %s %s", asked->full, list);
    else if (is_large(choice))
        length = asprintf(&text, "culprit regions --max-clusters 60 -o %s FILE.bb", list);
    else if (report->markers.checked)
        length = asprintf(&text, "culprit sim --regions %s", list);
    else
        length = asprintf(&text, "culprit trace --regions %s -- COMMAND", list);
    return length < 0 ? NULL : text;
}
