#include "options/live_options.h"

#include <stdlib.h>
#include <string.h>

#include "live/recorder.h"
#include "options/exit_status.h"
#include "report/event_list.h"

/* 5200: about what DCPI took (§4.1.1), and no multiple of common timers' rates. */
enum { RATE_DEFAULT = 5200, RATE_MAX = 100000, SLICE_STEP_NS = 100000000 };

/* A sample with its stack takes 32 KB of a buffer, which often may have 512 KB. No divisor of
 * common timers' rates. */
enum { RATE_WITH_STACKS = 997, STACK_BYTES = 32 << 10 };

void options_list_events(const char *value) {
    const struct page page = page_of(stdout, false);
    if (strcmp(value, "list") != 0)
        return;
    event_list_text(&page);
    exit(fflush(stdout) == 0 ? 0 : STATUS_FAILED);
}

static void take_rate(struct argp_state *state, void *request, char *value) {
    double *rate = &((struct live_options *)request)->rate;
    ((struct live_options *)request)->rate_given = true;
    *rate = (double)options_count(state, "--rate", value);
    if (*rate < 1 || *rate > RATE_MAX)
        options_fail(state, "--rate %s: 1 to %d samples per second", value, RATE_MAX);
}

static void take_slices(struct argp_state *state, void *request, char *value) {
    struct live_options *options = request;
    struct error error;
    options->slices_given = true;
    if (!sample_slicing_parse(value, &options->slicing, &error))
        options_fail(state, "--slices %s", error.message);
}

static void take_events(struct argp_state *state, void *request, char *value) {
    (void)state;
    options_list_events(value);
    ((struct live_options *)request)->events = value;
}

#define REQUEST struct live_options
static const struct option_row OPTIONS[] = {
    TAKE("events", "LIST", take_events,
         "Of cycles, cpu-clock, misses, software events, tracepoints and raw events, with commas "
         "between; \"list\": which there are here (default: cycles; cpu-clock where there are no "
         "hardware events)",
         .group = 1),
    TAKE("rate", "HZ", take_rate, "Samples per second of each processor that is busy (5200)",
         .group = 1),
    TAKE("slices", "LIST", take_slices,
         "What samples are told apart by, to look at slices of them: of pid, thread, cpu, cgroup, "
         "time=STEP, with commas between, or none (record: pid,thread,cpu,cgroup,time=100ms; "
         "daemon: cgroup,time=1h)",
         .group = 1),
    FLAG("stacks", stacks,
         "Also who called: the callers of every sample, in user code and the kernel, for culprit "
         "top --tree (at 997 samples per second, 97 by the daemon, unless --rate says otherwise)",
         .group = 1),
    COUNT("stack-bytes", "N", stack_bytes,
          "Of a stack that is copied these bytes are looked at (32768); what is deeper is cut off",
          .least = 1024, .most = RECORDER_STACK_MAX, .group = 1, GIVEN(stacks)),
    FLAG("no-symbols", no_symbols,
         "Do not keep the names of sampled procedures in the store, for the time when their files "
         "have been replaced or deleted",
         .group = 2),
    {0}};

static void begin(void *request) {
    struct live_options *options = request;
    options->rate = RATE_DEFAULT;
    options->slicing = (struct sample_slicing){
        .pid = true, .thread = true, .processor = true, .cgroup = true, .step_ns = SLICE_STEP_NS};
}

void live_options_take_stacks(struct live_options *options) {
    options->stacks = true;
    if (!options->rate_given)
        options->rate = RATE_WITH_STACKS;
    options->stack_bytes = options->stack_bytes ? options->stack_bytes / 8 * 8 : STACK_BYTES;
}

static void end(struct argp_state *state, void *request) {
    struct live_options *options = request;
    (void)state;
    if (options->stacks)
        live_options_take_stacks(options);
}

const struct option_group live_group = {.options = OPTIONS, .begin = begin, .end = end};
