/* culprit daemon: collect from the whole machine, continuously. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/cmd.h"
#include "cmd/verb.h"
#include "live/daemon.h"
#include "live/daemon_lock.h"
#include "live/daemon_request.h"
#include "options/live_options.h"
#include "report/daemon_status.h"
#include "store/address.h"
#include "store/store.h"

/* Of a sample with its stack the daemon itself has some microseconds of work. */
enum { ENTRIES = 200000, RATE_WITH_STACKS = 97, SLICE_STEP_SECONDS = 3600, DAY = 86400 };
static const uint64_t SECOND_NS = 1000000000, QUEUE_BYTES = 1000000000;

enum action { ACTION_RUN, ACTION_STATUS, ACTION_FLUSH, ACTION_STOP };

struct job {
    struct verb_run verb;
    enum action action;
    struct live_options sampled;
    const char *store;
    double drain, merge, epoch, keep, budget, keep_slices;
    uint64_t size, queue;
    const char *push;
    bool user;
};

static void take_push(struct argp_state *state, void *request, char *value) {
    if (!store_is_address(value))
        options_fail(state, "--push %s: an address is postgresql://USER@HOST/NAME", value);
    ((struct job *)request)->push = value;
}

#define REQUEST struct job
static const struct option_row OPTIONS[] = {
    HEADING(1, "What to collect:"),
    FLAG("user", user, "Leave the kernel out"),
    PERCENT("budget", budget,
            "Sample less often than --rate when it would cost more than this of the time that "
            "processors work (1%)"),
    HEADING(2, "Where it goes, and when:"),
    STORE_ROW(store),
    DURATION("drain", "TIME", drain, "Empty the kernel's tables this often (5min)"),
    DURATION("merge", "TIME", merge, "Write to the store this often (10min)"),
    DURATION("epoch", "TIME", epoch,
             "Begin a new epoch this often (1d; with --keep at most a tenth of that)"),
    DURATION("keep", "TIME", keep, "Remove epochs that ended longer ago (default: none)"),
    DURATION("keep-slices", "TIME", keep_slices,
             "Of epochs that ended longer ago, forget what samples are told apart by, but for "
             "control groups (1d)"),
    COUNT("size", "BYTES", size, "Remove the oldest epochs of a store larger than this"),
    TAKE("push", "ADDRESS", take_push,
         "Send epochs that have ended to this database too, postgresql://USER@HOST/NAME (culprit "
         "help fleet)"),
    COUNT("queue", "BYTES", queue,
          "Let at most so much wait to be sent, then give up the oldest (1G)"),
    HEADING(3, "Of the daemon that runs:"),
    VALUE("status", action, ACTION_STATUS, "Rates, losses, what it costs"),
    VALUE("flush", action, ACTION_FLUSH,
          "Have it write to the store now, and wait until it has; status 1 when it cannot"),
    VALUE("stop", action, ACTION_STOP,
          "Have it write and end, and wait until it has; status 1 when samples are lost"),
    FLAG("json", verb.output.json, "JSON in place of text (--status)"),
    TEXT("output", "FILE", verb.output.output, "Write to FILE, not to standard output (--status)",
         .letter = 'o', .written = true),
    {0}};

static bool refuse_argument(struct argp_state *state, void *request, char *value) {
    (void)request;
    options_fail(state, "%s: takes no argument (to sample one command: culprit record)", value);
}

/* Whole epochs are removed: with a tenth of what is kept, a tenth more is there than was asked for.
 */
static double default_epoch(double keep) {
    return keep > 0 && keep / 10 < DAY ? keep / 10 : DAY;
}

static void check(struct argp_state *state, void *given) {
    struct job *job = given;
    if (job->queue && !job->push)
        options_fail(state, "--queue: of epochs that wait to be sent (add --push)");
    if (job->sampled.stacks && !job->sampled.rate_given)
        job->sampled.rate = RATE_WITH_STACKS;
    if (!job->sampled.slices_given)
        job->sampled.slicing =
            (struct sample_slicing){.cgroup = true, .step_ns = SLICE_STEP_SECONDS * SECOND_NS};
    if (job->sampled.slicing.thread && !job->sampled.stacks)
        options_fail(state, "--slices thread: threads are told apart with --stacks only");
    if (job->sampled.slicing.step_ns && job->sampled.slicing.step_ns < SECOND_NS)
        options_fail(state, "--slices time: steps of at least 1s");
    if (job->keep_slices == 0)
        job->keep_slices = DAY;
    if (job->epoch == 0)
        job->epoch = default_epoch(job->keep);
    if (job->merge == 0)
        job->merge = job->drain > 600 ? job->drain : 600;
    if (job->drain == 0)
        job->drain = job->merge < 300 ? job->merge : 300;
    if (job->merge < job->drain)
        options_fail(state, "--merge is shorter than --drain: every merge drains");
    if ((job->verb.output.json || job->verb.output.output) && job->action != ACTION_STATUS)
        options_fail(state, "--json and --output go with --status");
}

static const struct option_part PARTS[] = {{&live_group, offsetof(struct job, sampled)}, {0}};

static const struct command_line LINE = {
    .own = {.options = OPTIONS, .argument = refuse_argument, .end = check},
    .parts = PARTS,
    .help =
        "Collects samples of everything that runs on this machine into the profile database, until "
        "it is stopped. At 5200 samples a second programs ran 4 to 9 % slower in virtual machines, "
        "and compilations up to 19 %, as beside perf record -g: nearly all of it is the timer's "
        "interrupt, 7 to 12 us there (docs/results/live-overhead.md). --budget lowers the rate to "
        "what you grant."
        "\vExample:\n"
        "  sudo culprit daemon &\n"
        "  culprit daemon --status\n"
        "  sudo culprit daemon --flush && culprit top\n\n"
        "SIGUSR1 has it write, SIGHUP write and begin a new epoch, SIGTERM write and end. It needs "
        "CAP_PERFMON, CAP_BPF, CAP_SYS_PTRACE and CAP_SYSLOG, and CAP_DAC_READ_SEARCH to read "
        "programs that others may not; culprit.service runs it with no more."};

static void say(const char *line) {
    fprintf(stderr, "culprit daemon: %s\n", line);
}

static bool collect(const struct job *job, struct error *error) {
    struct live_event events[LIVE_EVENTS_MAX];
    char store[PATH_MAX];
    sigset_t signals;
    struct daemon_options options = {.store = job->store,
                                     .events = events,
                                     .push = job->push,
                                     .queue_bytes = job->queue ? job->queue : QUEUE_BYTES,
                                     .rate = job->sampled.rate,
                                     .budget = job->budget,
                                     .drain_seconds = job->drain,
                                     .merge_seconds = job->merge,
                                     .epoch_seconds = job->epoch,
                                     .keep_seconds = job->keep,
                                     .keep_slices_seconds = job->keep_slices,
                                     .keep_bytes = job->size,
                                     .no_symbols = job->sampled.no_symbols,
                                     .stack_bytes = (uint32_t)job->sampled.stack_bytes,
                                     .slicing = job->sampled.slicing,
                                     .entries = ENTRIES,
                                     .say = say};
    if (!options.store) {
        if (!store_default_path(store, STORE_WRITE, error))
            return false;
        options.store = store;
    }
    if (store_is_address(options.store))
        return error_set(error, "the daemon has its store in a file, and sends from there: --store "
                                "FILE --push ADDRESS");
    if (!live_machine_permitted(!job->sampled.stack_bytes, error) ||
        !live_events_choose(job->sampled.events, job->sampled.rate, !job->user, events,
                            &options.event_count, error))
        return false;
    daemon_signals(&signals);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    return daemon_run(&options, error);
}

static bool show_status(struct job *job, struct error *error) {
    struct daemon_status status;
    char path[PATH_MAX];
    char *answer = NULL;
    const bool good =
        daemon_run_path(DAEMON_SOCKET, path, error) && (answer = daemon_status_ask(path, error)) &&
        daemon_status_read(answer, &status, error) && verb_open_report(&job->verb, error);
    FILE *file = job->verb.files.report.file;
    if (good && job->verb.output.json)
        fprintf(file, "%s\n", answer);
    else if (good)
        daemon_status_text(&status, file);
    free(answer);
    return good;
}

static bool act(void *verb, struct error *error) {
    struct job *job = verb;
    pid_t pid;
    switch (job->action) {
    case ACTION_STATUS:
        return show_status(job, error);
    case ACTION_FLUSH:
        return daemon_request(DAEMON_FLUSH, &pid, error);
    case ACTION_STOP:
        return daemon_request(DAEMON_STOP, &pid, error);
    default:
        return collect(job, error);
    }
}

const struct verb verb_daemon = {.line = &LINE, .size = sizeof(struct job), .report = act};
