#include "cmd/sample_options.h"

#include <inttypes.h>
#include <string.h>

#include "util/array.h"
#include "util/clock.h"
#include "util/text.h"
#include "util/when.h"

static int64_t when_of(struct argp_state *state, const char *name, const char *value) {
    int64_t moment;
    if (!when_read(value, clock_since_1970(), &moment))
        options_fail(state, "--%s %s: a moment such as 14:05, '2026-11-26 14:05', '10min ago'",
                     name, value);
    return moment;
}

static void take_since(struct argp_state *state, void *request, char *value) {
    ((struct sample_options *)request)->choice.since = when_of(state, "since", value);
}

static void take_until(struct argp_state *state, void *request, char *value) {
    ((struct sample_options *)request)->choice.until = when_of(state, "until", value);
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
    TEXT("host", "NAME", host, "Epochs of this machine only; all, unless --epoch is given",
         .least = 1),
    {0}};

static void check(struct argp_state *state, void *request) {
    const struct sample_choice *choice = &((struct sample_options *)request)->choice;
    if (choice->until && choice->since >= choice->until)
        options_fail(state, "--until is not after --since");
}

const struct option_group sample_group = {.options = OPTIONS, .end = check};

const char *sample_options_epochs(const struct sample_options *options, const char *list) {
    const bool among_all = options->choice.since || options->choice.until || options->host;
    return !list && among_all ? "all" : list;
}

struct narrowing {
    const struct sample_options *options;
    int64_t *sessions;
    size_t count, kept;
};

static bool overlaps(const struct sample_choice *choice, const struct store_session *session) {
    const int64_t reached = session->end ? session->end : session->saved;
    if (!choice->since && !choice->until)
        return true;
    return session->kind == SESSION_LIVE && reached >= choice->since &&
           (!choice->until || session->start < choice->until);
}

/* Epochs are visited by their start, as the list has them. */
static bool keep(void *context, const struct store_session *session,
                 const struct store_event *events, size_t event_count) {
    (void)events, (void)event_count;
    struct narrowing *narrowing = context;
    const struct sample_options *options = narrowing->options;
    const size_t at = index_where(i, narrowing->count, narrowing->sessions[i] == session->id);
    if (at == narrowing->count || at < narrowing->kept ||
        (options->host && strcmp(options->host, session->host) != 0) ||
        !overlaps(&options->choice, session))
        return true;
    const int64_t kept = narrowing->sessions[at];
    narrowing->sessions[at] = narrowing->sessions[narrowing->kept];
    narrowing->sessions[narrowing->kept++] = kept;
    return true;
}

bool sample_options_narrow(struct store *store, const struct sample_options *options,
                           int64_t *sessions, size_t *count, struct error *error) {
    struct narrowing narrowing = {.options = options, .sessions = sessions, .count = *count};
    if (!store_each_session(store, keep, &narrowing, error))
        return false;
    *count = narrowing.kept;
    return *count ||
           error_set(error, "%s: no epoch%s%s%s ('culprit epochs' lists them)", store_path(store),
                     options->host ? " of " : "", options->host ? options->host : "",
                     options->choice.since || options->choice.until ? " in this time" : "");
}

void sample_options_put(const struct sample_options *options, FILE *file) {
    const struct sample_choice *choice = &options->choice;
    text_put_option(file, "process", options->process);
    text_put_option(file, "host", options->host);
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
