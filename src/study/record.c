/* Recording: a round delivers what the rings hold; what is gathered is saved every ten minutes,
 * when there is no more room, and at the end. */
#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "live/command.h"
#include "live/scaling.h"
#include "live/session.h"
#include "study/command_signals.h"
#include "study/record.h"
#include "util/array.h"
#include "util/clock.h"
#include "util/text.h"

enum { ENTRIES = 200000, SAVE_SECONDS = 600, RETRY_SECONDS = 10 };
/* Between looks at the files that samples lie in, while these are there: the first comes soon. */
static const double FIRST_NAMES_SECONDS = 0.1, NAMES_SECONDS = 2;

struct record_run {
    const struct recording_request *request;
    struct recording *recording;
    struct store *store;
    struct resolver *resolver;
    struct recorder *recorder;
    struct command command;
    struct command_signals signals;
    int process; /* to wait for the end of --pid; −1 */
    struct live_host host;
    struct store_session session;
    int64_t event_ids[LIVE_EVENTS_MAX];
    struct live_scaling scaling;
    double began, next_save, next_names;
};

/* The kernel too where that is permitted. */
static bool choose_events(const struct recording_request *request, struct recording *recording,
                          struct error *error) {
    const bool kernel = !request->user_only && live_kernel_permitted();
    return live_events_choose(request->events, request->rate, kernel, recording->events,
                              &recording->event_count, error);
}

/* Which threads that wait are sampled by as well: the kernel gives samples of a thread's switches
 * to one event alone. */
static bool is_of_switches(const struct live_event *event) {
    return event->kind == LIVE_SOFTWARE && event->config[0] == PERF_COUNT_SW_CONTEXT_SWITCHES;
}

/* At the end of the others. */
static bool add_waits(struct recording *recording, struct error *error) {
    if (any_where(i, recording->event_count, is_of_switches(&recording->events[i])))
        return error_set(error, "--off-cpu: it takes the samples of context-switches itself; leave "
                                "them out of --events");
    if (recording->event_count + 2 > LIVE_EVENTS_MAX)
        return error_set(error, "--off-cpu: with %d other events at most", LIVE_EVENTS_MAX - 2);
    const bool kernel = recording->events[0].kernel;
    recording->events[recording->event_count++] =
        (struct live_event){.kind = LIVE_OFF_CPU, .name = "off-cpu", .kernel = kernel};
    recording->events[recording->event_count++] =
        (struct live_event){.kind = LIVE_RUN_QUEUE, .name = "run-queue", .kernel = kernel};
    return true;
}

static bool choose_store(const struct recording_request *request, char path[PATH_MAX],
                         struct error *error) {
    if (!request->store)
        return store_default_path(path, STORE_WRITE, error);
    return snprintf(path, PATH_MAX, "%s", request->store) < PATH_MAX ||
           error_set(error, "--store: the path is too long");
}

/* The command as typed, or of --pid the name of the process. */
static void name_it(const struct recording_request *request, char *name, size_t size) {
    FILE *text = fmemopen(name, size, "w");
    if (!text)
        return;
    if (!request->command) {
        char path[64], command[64] = "";
        snprintf(path, sizeof path, "/proc/%d/comm", (int)request->pid);
        FILE *file = fopen(path, "re");
        if (file && fgets(command, sizeof command, file))
            command[strcspn(command, "\n")] = 0;
        if (file)
            fclose(file);
        fprintf(text, "%s (process %d)", command, (int)request->pid);
    }
    if (request->command) {
        text_put_word(text, *request->command);
        text_put_words(text, request->command + 1);
    }
    fclose(text);
    name[size - 1] = 0;
}

/* ---- saving ---- */

static void measure(struct record_run *run) {
    struct recording *recording = run->recording;
    resolver_statistics(run->resolver, &recording->attributed);
    recorder_statistics(run->recorder, &recording->recorded);
}

static bool update_session(struct record_run *run, struct error *error) {
    measure(run);
    run->session.unknown = run->recording->attributed.unknown;
    run->session.dropped = run->recording->recorded.dropped;
    return store_update_session(run->store, &run->session, error);
}

static bool save(struct record_run *run, struct error *error) {
    run->next_save = clock_monotonic() + RETRY_SECONDS;
    struct recording *recording = run->recording;
    struct live_event stored[LIVE_EVENTS_MAX];
    recorder_times(run->recorder, recording->times);
    const bool changed = live_scaling_find(&run->scaling, recording->events, recording->times,
                                           recording->event_count, stored);
    if (!run->session.id
            ? !live_session_add(run->store, &run->session, stored, recording->event_count,
                                run->event_ids, error)
            : changed && !live_session_resume(run->store, run->session.id, stored,
                                              recording->event_count, run->event_ids, error))
        return false;
    if (!resolver_save(run->resolver, run->store, run->session.id, run->event_ids, error) ||
        !update_session(run, error))
        return false;
    live_scaling_saved(&run->scaling, recording->events, recording->times, recording->event_count,
                       stored);
    run->recording->session = run->session.id;
    run->next_save = clock_monotonic() + SAVE_SECONDS;
    return true;
}

/* What cannot be saved now is tried again, and said when it cannot be saved at the end. */
static void save_when_due(struct record_run *run) {
    struct error ignored;
    double now = clock_monotonic();
    if (now >= run->next_save ||
        (resolver_full(run->resolver) && now >= run->next_save - SAVE_SECONDS + RETRY_SECONDS))
        save(run, &ignored);
}

static bool name_when_due(struct record_run *run, struct error *error) {
    const double now = clock_monotonic();
    if (now < run->next_names)
        return true;
    run->next_names = now + fmin(NAMES_SECONDS, FIRST_NAMES_SECONDS + now - run->began);
    return resolver_collect_names(run->resolver, error);
}

/* ---- the command ---- */

/* True when it has ended. */
static bool command_ended(struct record_run *run) {
    int status;
    pid_t ended = waitpid(run->command.pid, &status, WNOHANG);
    if (ended == 0 || (ended < 0 && errno == EINTR))
        return false;
    command_signals_end(&run->signals);
    run->recording->exit =
        (struct trace_exit){.known = ended > 0,
                            .signaled = ended > 0 && WIFSIGNALED(status),
                            .status = ended <= 0            ? 0
                                      : WIFSIGNALED(status) ? WTERMSIG(status)
                                                            : WEXITSTATUS(status)};
    return true;
}

static bool process_ended(const struct record_run *run) {
    return kill(run->request->pid, 0) != 0 && errno == ESRCH;
}

static bool is_over(struct record_run *run) {
    const struct recording_request *request = run->request;
    if (request->seconds > 0 && clock_monotonic() - run->began >= request->seconds)
        return true;
    return request->command ? command_ended(run) : request->watch->signal || process_ended(run);
}

static bool sample(struct record_run *run, struct error *error) {
    while (!is_over(run)) {
        recorder_wait(run->recorder, run->request->command ? run->command.process : run->process);
        if (run->request->command)
            command_signals_pass(&run->signals);
        if (!recorder_deliver(run->recorder, error) || !name_when_due(run, error))
            return false;
        save_when_due(run);
    }
    return true;
}

/* After --time, or when recording failed, the command still has to end. */
static void await_command(struct record_run *run) {
    if (!run->request->command || run->command.pid < 0 || run->recording->exit.known)
        return;
    while (!command_ended(run)) {
        command_signals_pass(&run->signals);
        usleep(10000);
    }
}

/* ---- all of it ---- */

static bool start(struct record_run *run, int *exec_status, struct error *error) {
    const struct recording_request *request = run->request;
    struct recording *recording = run->recording;
    const struct live_sink sink = resolver_sink(run->resolver);
    pid_t process = request->pid;
    if (request->command) {
        if (!command_start(&run->command, request->command, request->descriptors, error))
            return false;
        process = run->command.pid;
    } else {
        run->process = (int)syscall(SYS_pidfd_open, process, 0);
        if (kill(process, 0) != 0 && errno == ESRCH)
            return error_set(error, "process %d: there is none", (int)process);
    }
    const struct recorder_options options = {.events = recording->events,
                                             .event_count = recording->event_count,
                                             .process = process,
                                             .waits = request->command,
                                             .times_waits = request->off_cpu,
                                             .stack_bytes = request->stack_bytes};
    run->recorder = recorder_new(&options, &sink, error);
    if (!run->recorder)
        return false;
    run->began = clock_monotonic();
    run->next_names = run->began + FIRST_NAMES_SECONDS;
    run->session.start = clock_since_1970();
    run->next_save = run->began + SAVE_SECONDS;
    if (!request->command)
        return true;
    if (!command_go(&run->command, exec_status, error))
        return false;
    run->signals = command_signals_begin(request->watch, run->command.pid);
    return true;
}

static bool record(struct record_run *run, int *exec_status, struct error *error) {
    struct recording *recording = run->recording;
    if (!start(run, exec_status, error))
        return false;
    bool good = sample(run, error);
    good &= recorder_finish(run->recorder, good ? error : &(struct error){0});
    run->session.end = clock_since_1970();
    recording->seconds = clock_monotonic() - run->began;
    recording->partial = run->request->watch->signal;
    measure(run);
    struct error unsaved = {0};
    bool saved = save(run, &unsaved);
    if (!saved && good)
        *error = unsaved;
    recording->note = resolver_note(run->resolver);
    const char *note = recorder_note(run->recorder);
    snprintf(recording->stack_note, sizeof recording->stack_note, "%s", note ? note : "");
    await_command(run);
    if (run->request->command)
        recording->running =
            recorder_running(run->recorder, recording->running_pids, RECORDING_RUNNING_TOLD);
    return good && saved;
}

bool record_run(const struct recording_request *request, struct recording *recording,
                int *exec_status, struct error *error) {
    struct record_run run = {.request = request,
                             .recording = recording,
                             .command = {.pid = -1, .process = -1, .go = -1, .refused = -1},
                             .process = -1};
    live_host_read(&run.host);
    name_it(request, recording->name, sizeof recording->name);
    run.session = (struct store_session){.kind = SESSION_LIVE,
                                         .name = recording->name,
                                         .host = run.host.name,
                                         .kernel = run.host.kernel,
                                         .processor = run.host.processor,
                                         .weight = 1};
    bool good = choose_events(request, recording, error) &&
                (!request->off_cpu || add_waits(recording, error)) &&
                choose_store(request, recording->store, error) &&
                (run.store = store_open(recording->store, STORE_WRITE, error));
    good = good &&
           (run.resolver = resolver_new(recording->events, recording->event_count, ENTRIES, error));
    if (good)
        resolver_slice_by(run.resolver, &request->slicing);
    if (good && !request->no_symbols)
        resolver_take_names(run.resolver, true);
    good = good && record(&run, exec_status, error);
    recorder_free(run.recorder);
    resolver_free(run.resolver);
    store_close(run.store);
    command_close(&run.command);
    if (run.process >= 0)
        close(run.process);
    return good;
}
