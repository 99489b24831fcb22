/* culprit daemon: collect from the whole machine, continuously. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/live_options.h"
#include "cmd/options.h"
#include "cmd/output.h"
#include "live/daemon.h"
#include "live/daemon_lock.h"
#include "live/daemon_request.h"
#include "live/daemon_status.h"
#include "report/report.h"
#include "store/store.h"
#include "util/count.h"
#include "util/text.h"

enum { ENTRIES = 200000 };

enum action { ACTION_RUN, ACTION_STATUS, ACTION_FLUSH, ACTION_STOP };

struct request {
    enum action action;
    struct live_options sampled;
    const char *store;
    struct output_options output;
    double drain, merge, epoch, keep;
    uint64_t size;
    bool user;
};

#define REQUEST struct request
static const struct option_row OPTIONS[] = {
    HEADING(1, "What to collect:"),
    FLAG("user", user, "Leave the kernel out"),
    HEADING(2, "Where it goes, and when:"),
    STORE_ROW(store),
    DURATION("drain", "TIME", drain, "Empty the kernel's tables this often (5min)"),
    DURATION("merge", "TIME", merge, "Write to the store this often (10min)"),
    DURATION("epoch", "TIME", epoch, "Begin a new epoch this often (default: at 'epochs new')"),
    DURATION("keep", "TIME", keep, "Remove epochs that ended longer ago (default: none)"),
    COUNT("size", "BYTES", size, "Remove the oldest epochs of a store larger than this"),
    HEADING(3, "Of the daemon that runs:"),
    VALUE("status", action, ACTION_STATUS, "Rates, losses, what it costs"),
    VALUE("flush", action, ACTION_FLUSH, "Have it write to the store now, and wait until it has"),
    VALUE("stop", action, ACTION_STOP, "Have it write and end, and wait until it has"),
    FLAG("json", output.json, "JSON in place of text (--status)"),
    TEXT("output", "FILE", output.output, "Write to FILE, not to standard output (--status)",
         .letter = 'o'),
    {0}};

static bool refuse_argument(struct argp_state *state, void *request, char *value) {
    (void)request;
    options_fail(state, "%s: takes no argument (to sample one command: culprit record)", value);
}

static void check(struct argp_state *state, void *given) {
    struct request *request = given;
    if (request->merge == 0)
        request->merge = request->drain > 600 ? request->drain : 600;
    if (request->drain == 0)
        request->drain = request->merge < 300 ? request->merge : 300;
    if (request->merge < request->drain)
        options_fail(state, "--merge is shorter than --drain: every merge drains");
    if ((request->output.json || request->output.output) && request->action != ACTION_STATUS)
        options_fail(state, "--json and --output go with --status");
}

static const struct option_part PARTS[] = {{&live_group, offsetof(struct request, sampled)}, {0}};

static const struct command_line LINE = {
    .own = {.options = OPTIONS, .argument = refuse_argument, .end = check},
    .parts = PARTS,
    .help =
        "Collects samples of everything that runs on this machine, at 1 to 3 % of its time, into "
        "the profile database, until it is stopped."
        "\vExample:\n"
        "  sudo culprit daemon &\n"
        "  culprit daemon --status\n"
        "  sudo culprit daemon --flush && culprit top\n\n"
        "SIGUSR1 has it write, SIGHUP write and begin a new epoch, SIGTERM write and end. It needs "
        "CAP_PERFMON, CAP_BPF, CAP_SYS_PTRACE and CAP_SYSLOG, and CAP_DAC_READ_SEARCH to read "
        "programs that others may not; culprit.service runs it with no more."};

static int fail(const struct error *error) {
    print_error(error);
    return STATUS_FAILED;
}

static void say(const char *line) {
    fprintf(stderr, "culprit daemon: %s\n", line);
}

static int collect(const struct request *request) {
    struct error error = {0};
    struct live_event events[LIVE_EVENTS_MAX];
    char store[PATH_MAX];
    sigset_t signals;
    struct daemon_options options = {.store = request->store,
                                     .events = events,
                                     .rate = request->sampled.rate,
                                     .drain_seconds = request->drain,
                                     .merge_seconds = request->merge,
                                     .epoch_seconds = request->epoch,
                                     .keep_seconds = request->keep,
                                     .keep_bytes = request->size,
                                     .entries = ENTRIES,
                                     .say = say};
    if (!options.store) {
        if (!store_default_path(store, STORE_WRITE, &error))
            return fail(&error);
        options.store = store;
    }
    if (!live_events_choose(request->sampled.events, request->sampled.rate, !request->user, events,
                            &options.event_count, &error))
        return fail(&error);
    daemon_signals(&signals);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    return daemon_run(&options, &error) ? 0 : fail(&error);
}

/* ---- status ---- */

static void line(FILE *file, const char *name, const char *text) {
    fprintf(file, "%-10s %s\n", name, text);
}

static void wrapped(FILE *file, const char *name, const char *text) {
    const struct page page = page_of(file);
    char clean[1100], first[16];
    snprintf(first, sizeof first, "%-11s", name);
    page_wrap(&page, text_clean(clean, sizeof clean, text), NULL, first, "           ");
}

static void print_samples(const struct daemon_status *status, FILE *file) {
    char text[512];
    double mean = status->uptime > 0 ? (double)status->samples / status->uptime : 0;
    snprintf(text, sizeof text, "%s, %s a second in the mean; asked for %s per busy processor",
             text_grouped(status->samples).s, text_quantity(mean).s, text_quantity(status->rate).s);
    line(file, "samples", text);
    snprintf(text, sizeof text, "%s %% of samples found their entry; %s entries evicted",
             text_percent((double)status->hits, (double)status->samples).s,
             text_grouped(status->evicted).s);
    line(file, "table", text);
    snprintf(text, sizeof text, "%s dropped; of %s drained %s unknown (%.3f %%), %s %% kernel",
             text_grouped(status->dropped).s, text_grouped(status->attributed).s,
             text_grouped(status->unknown).s,
             status->attributed ? 100.0 * (double)status->unknown / (double)status->attributed : 0,
             text_percent((double)status->kernel, (double)status->attributed).s);
    line(file, "lost", text);
}

static void print_merges(const struct daemon_status *status, FILE *file) {
    char text[512], when[64] = "none yet";
    if (status->last_merge >= 0)
        snprintf(when, sizeof when, "the last %s ago", text_duration(status->last_merge).s);
    snprintf(text, sizeof text, "%llu, %s; %llu drain%s; %s places wait to be merged",
             (unsigned long long)status->merges, when, (unsigned long long)status->drains,
             text_plural(status->drains), text_grouped(status->entries).s);
    line(file, "merges", text);
    if (status->problem[0]) {
        char problem[1100];
        snprintf(problem, sizeof problem, "cannot merge (%llu time%s): %s",
                 (unsigned long long)status->failed_merges, text_plural(status->failed_merges),
                 status->problem);
        wrapped(file, "problem", problem);
    }
}

static void print_cost(const struct daemon_status *status, FILE *file) {
    char text[512];
    double share = status->uptime > 0 ? status->processor_seconds / status->uptime : 0;
    snprintf(text, sizeof text, "the daemon takes %.3f %% of one processor", 100 * share);
    line(file, "cost", text);
    if (status->program_seconds >= 0 && status->samples)
        snprintf(text, sizeof text, "its program in the kernel %s a sample",
                 text_duration(status->program_seconds / (double)status->samples).s);
    else
        snprintf(text, sizeof text,
                 "its program in the kernel is not timed (to have it: sysctl "
                 "kernel.bpf_stats_enabled=1)");
    line(file, "", text);
    snprintf(text, sizeof text, "%s, in the kernel %s; store %s",
             text_bytes(status->resident_bytes).s, text_bytes(status->kernel_bytes).s,
             text_bytes(status->store_bytes).s);
    line(file, "memory", text);
}

static void print_status(const struct daemon_status *status, FILE *file) {
    char text[5000], clean[4096], epoch[32] = "not merged yet";
    snprintf(text, sizeof text, "process %d, %u processor%s, for %s", (int)status->pid,
             status->processors, text_plural(status->processors), text_duration(status->uptime).s);
    line(file, "daemon", text);
    wrapped(file, "sampling", status->sampling);
    if (status->epoch)
        snprintf(epoch, sizeof epoch, "epoch %lld", (long long)status->epoch);
    snprintf(text, sizeof text, "%s: %s, for %s", text_clean(clean, sizeof clean, status->store),
             epoch, text_duration(status->epoch_seconds).s);
    line(file, "store", text);
    print_samples(status, file);
    print_merges(status, file);
    print_cost(status, file);
    fprintf(file, "next: culprit daemon --flush && culprit top\n");
}

static int show_status(const struct request *request) {
    struct error error = {0};
    struct daemon_status status;
    struct output output;
    char path[PATH_MAX];
    char *answer = NULL;
    if (!daemon_run_path("daemon.sock", path, &error) ||
        !(answer = daemon_status_ask(path, &error)) ||
        !daemon_status_read(answer, &status, &error) ||
        !output_open(&output, "--output", request->output.output, stdout, &error)) {
        free(answer);
        return fail(&error);
    }
    if (request->output.json)
        fprintf(output.file, "%s\n", answer);
    else
        print_status(&status, output.file);
    bool written = output_close(&output, &error);
    output_discard(&output);
    free(answer);
    return written ? 0 : fail(&error);
}

static int ask_for(enum daemon_request request) {
    struct error error = {0};
    pid_t pid;
    return daemon_request(request, &pid, &error) ? 0 : fail(&error);
}

int cmd_daemon(int argc, char **argv) {
    struct request request = {0};
    free(options_parse(&LINE, argc, argv, &request));
    switch (request.action) {
    case ACTION_STATUS:
        return show_status(&request);
    case ACTION_FLUSH:
        return ask_for(DAEMON_FLUSH);
    case ACTION_STOP:
        return ask_for(DAEMON_STOP);
    default:
        return collect(&request);
    }
}
