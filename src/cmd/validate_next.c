/* What to do after a validation. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/validate.h"
#include "report/next.h"

static bool is_large(double error) {
    return error > 0.02 || error < -0.02;
}

/* Once more with another option; or, when all is well, the command explained. */
static char *next_of_command(const struct validate_job *job, double choice, bool cold) {
    char *const *command = job->request.command;
    if (cold)
        return next_in_place("--warm-up 100M,300M", command, job->verb.argc, job->verb.words);
    if (is_large(choice))
        return next_in_place("--max-clusters 60", command, job->verb.argc, job->verb.words);
    int first = (int)(command - job->verb.argv) - 1;
    int count = job->verb.argc - first;
    char **words = malloc((size_t)count * sizeof *words);
    if (!words)
        return NULL;
    memcpy(words, job->verb.argv + first, (size_t)count * sizeof *words);
    words[0] = "culprit explain";
    char *next = next_with_option("--", count, words);
    free(words);
    return next;
}

char *validate_next(const struct validate_job *job) {
    const struct validation *validation = &job->validation;
    const struct validation_trial *verdict = validation_verdict(validation);
    double choice = validation_cpi_error(&validation->within, &validation->whole);
    bool cold = verdict && is_large(validation_cpi_error(&verdict->metrics, &validation->within));
    char *text = NULL;
    int length;
    if (job->request.command)
        return next_of_command(job, choice, cold);
    if (cold)
        length =
            asprintf(&text, "culprit validate --warm-up all --full %s %s", job->full, job->list);
    else if (is_large(choice))
        length = asprintf(&text, "culprit regions --max-clusters 60 -o %s FILE.bb", job->list);
    else if (job->report.markers.checked)
        length = asprintf(&text, "culprit sim --regions %s", job->list);
    else
        length = asprintf(&text, "culprit trace --regions %s -- COMMAND", job->list);
    return length < 0 ? NULL : text;
}
