#include "options/sample_options.h"

#include <inttypes.h>
#include <string.h>

#include "store/build_choice.h"
#include "util/array.h"
#include "util/clock.h"
#include "util/text.h"
#include "util/when.h"

int64_t options_moment(const struct argp_state *state, const char *option, const char *value) {
    int64_t moment;
    if (!when_read(value, clock_since_1970(), &moment))
        options_fail(state, "%s %s: a moment such as 14:05, '2026-11-26 14:05', '10min ago'",
                     option, value);
    return moment;
}

static void take_since(struct argp_state *state, void *request, char *value) {
    ((struct sample_options *)request)->choice.since = options_moment(state, "--since", value);
}

static void take_until(struct argp_state *state, void *request, char *value) {
    ((struct sample_options *)request)->choice.until = options_moment(state, "--until", value);
}

static void take_cpu(struct argp_state *state, void *request, char *value) {
    const uint64_t number = options_count(state, "--cpu", value);
    if (number >= UINT32_MAX)
        options_fail(state, "--cpu %s: no number of a processor", value);
    ((struct sample_options *)request)->choice.processor = (uint32_t)number + 1;
}

#define REQUEST struct sample_options
static const struct option_row OPTIONS[] = {
    TEXT("process", "NAME", process, "Of processes of this name, or executable, only", .group = 1),
    COUNT("pid", "PID", choice.pid, "Of this process only", .least = 1,
          .must = "no number of a process"),
    COUNT("thread", "TID", choice.thread, "Of this thread only", .least = 1,
          .must = "no number of a thread"),
    TAKE("cpu", "N", take_cpu, "On this processor only"),
    TEXT("cgroup", "NAME", choice.cgroup,
         "Of this control group only, and those below it: its path, or names on it "
         "(nginx.service)",
         .least = 1),
    TAKE("since", "TIME", take_since,
         "From then on: 14:05, '2026-11-26 14:05', '10min ago'; of all epochs, unless --epoch is "
         "given"),
    TAKE("until", "TIME", take_until, "Until then"),
    LIST("host", "NAME", hosts, host_count,
         "Epochs of this machine only, or of those that a pattern fits (web-*); repeatable; all, "
         "unless --epoch is given"),
    LIST("build", "ID", builds, build_count,
         "Of processes only that ran this build of a program or library, in all of their code: "
         "the first digits of its build id, or PATH@ID ('culprit top --by build' lists builds); of "
         "all epochs, unless --epoch is given"),
    {0}};

void sample_options_one_build(struct argp_state *state, const struct sample_options *options) {
    if (options->build_count > 1)
        options_fail(state, "--build: one at a time ('culprit diff' compares two)");
}

static void check(struct argp_state *state, void *request) {
    struct sample_options *options = request;
    struct sample_choice *choice = &options->choice;
    struct error error;
    for (size_t i = 0; i < options->build_count; i++)
        if (!build_text_check(options->builds[i], &error))
            options_fail(state, "%s", error.message);
    if (options->build_count == 1)
        choice->build = options->builds[0];
    if (choice->until && choice->since >= choice->until)
        options_fail(state, "--until is not after --since");
}

const struct option_group sample_group = {.options = OPTIONS, .end = check};

void sample_options_put(const struct sample_options *options, FILE *file) {
    const struct sample_choice *choice = &options->choice;
    text_put_option(file, "process", options->process);
    for (size_t i = 0; i < options->host_count; i++)
        text_put_option(file, "host", options->hosts[i]);
    for (size_t i = 0; i < options->build_count; i++)
        text_put_option(file, "build", options->builds[i]);
    if (choice->pid)
        fprintf(file, " --pid %" PRIu32, choice->pid);
    if (choice->thread)
        fprintf(file, " --thread %" PRIu32, choice->thread);
    if (choice->processor)
        fprintf(file, " --cpu %" PRIu32, choice->processor - 1);
    text_put_option(file, "cgroup", choice->cgroup);
    if (choice->since)
        fprintf(file, " --since @%.3f", (double)choice->since / 1e9);
    if (choice->until)
        fprintf(file, " --until @%.3f", (double)choice->until / 1e9);
}
