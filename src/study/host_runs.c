/* The clock is measured in turn with the runs. */
#include "study/host_runs.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "host/frequency.h"
#include "live/command.h"
#include "study/command_signals.h"
#include "study/muted_output.h"
#include "util/binomial.h"
#include "util/median.h"

enum { SIGNAL_MS = 100 };
#define SAMPLES_PER_SECOND 5200 /* as `record` takes */

struct streams {
    struct muted_output output;
    int descriptors[3];
};

static bool streams_open(struct streams *streams, const struct kept_input *input,
                         struct error *error) {
    if ((streams->descriptors[0] = kept_input_again(input, error)) < 0 ||
        !muted_output_open(&streams->output, error))
        return false;
    streams->descriptors[1] = streams->output.files[0];
    streams->descriptors[2] = streams->output.files[1];
    return true;
}

static void streams_close(struct streams *streams) {
    muted_output_close(&streams->output);
    if (streams->descriptors[0] > 0)
        close(streams->descriptors[0]);
}

static double seconds_of(struct timeval time) {
    return (double)time.tv_sec + 1e-6 * (double)time.tv_usec;
}

/* ---- timed ---- */

/* The coarse clocks go on at each tick. */
static double tick_seconds(void) {
    struct timespec tick;
    if (clock_getres(CLOCK_MONOTONIC_COARSE, &tick) != 0)
        return 0;
    return (double)tick.tv_sec + 1e-9 * (double)tick.tv_nsec;
}

/* Where the kernel has no descriptor of processes, only the end is waited for. */
static void await_end(const struct command *command, struct watch *watch) {
    struct command_signals signals = command_signals_begin(watch, command->pid);
    struct pollfd ended = {command->process, POLLIN, 0};
    while (command->process >= 0 && poll(&ended, 1, SIGNAL_MS) <= 0)
        command_signals_pass(&signals);
    command_signals_end(&signals);
}

static bool run_once(const struct host_runs_request *request, const int descriptors[3],
                     struct rusage *used, int *status, int *exec_status, struct error *error) {
    struct command command;
    if (!command_start(&command, request->command, descriptors, error))
        return false;
    bool good = command_go(&command, exec_status, error);
    if (good) {
        await_end(&command, request->watch);
        while (wait4(command.pid, status, 0, used) < 0 && errno == EINTR)
            continue;
    }
    command_close(&command);
    return good;
}

/* `clock`: as it is after the run. */
static bool time_run(struct host_runs *runs, const struct host_runs_request *request, double *clock,
                     int *exec_status, struct error *error) {
    struct streams streams = {0};
    struct rusage used = {0};
    bool good = streams_open(&streams, request->input, error) &&
                run_once(request, streams.descriptors, &used, &runs->status, exec_status, error) &&
                host_frequency(clock, error);
    streams_close(&streams);
    if (!good || request->watch->signal)
        return good;
    runs->runs[runs->count++] =
        (struct host_run){.user = seconds_of(used.ru_utime),
                          .system = seconds_of(used.ru_stime),
                          .faults = (uint64_t)(used.ru_minflt + used.ru_majflt)};
    return true;
}

static void bound(struct host_run *run, double tick) {
    const double all = run->user + run->system;
    run->cycles_low = run->cycles_high = run->cycles;
    if (!(tick > 0))
        return;
    const struct binomial_interval share = binomial_interval95(run->user / tick, all / tick);
    run->cycles_low = fmin(run->cycles, share.low * all * run->clock);
    run->cycles_high = fmax(run->cycles, share.high * all * run->clock);
}

void host_runs_conclude(struct host_runs *runs, const double *readings) {
    double sorted[HOST_RUNS_MOST + 1];
    for (uint32_t i = 0; i <= runs->count; i++)
        sorted[i] = readings[i];
    const double usual = median_of(sorted, runs->count + 1);
    runs->least = 0;
    for (uint32_t i = 0; i < runs->count; i++) {
        struct host_run *run = &runs->runs[i];
        run->clock = median_of((double[]){readings[i], readings[i + 1], usual}, 3);
        run->cycles = run->clock * run->user;
        bound(run, runs->tick);
        if (run->cycles < runs->runs[runs->least].cycles)
            runs->least = i;
    }
}

/* ---- sampled ---- */

static bool sample_run(struct host_runs *runs, const struct host_runs_request *request,
                       struct error *error) {
    struct streams streams = {0};
    struct recording recording = {0};
    int ignored;
    bool good = streams_open(&streams, request->input, error);
    const struct recording_request sampled = {.watch = request->watch,
                                              .command = request->command,
                                              .descriptors = streams.descriptors,
                                              .user_only = true,
                                              .store = request->store,
                                              .rate = SAMPLES_PER_SECOND};
    good = good && record_run(&sampled, &recording, &ignored, error);
    streams_close(&streams);
    if (recording.session)
        runs->sessions[runs->session_count++] = recording.session;
    runs->sampled += good && !recording.partial;
    runs->event = recording.events[0];
    return good;
}

/* What cannot be sampled is told. */
static void sample_runs(struct host_runs *runs, const struct host_runs_request *request) {
    struct error error;
    for (uint32_t i = 0; i < request->runs && !request->watch->signal; i++) {
        if (!sample_run(runs, request, &error)) {
            snprintf(runs->unsampled, sizeof runs->unsampled, "%.390s", error.message);
            return;
        }
        watch_progress(request->watch, request->runs + i + 1);
    }
    if (!runs->session_count)
        snprintf(runs->unsampled, sizeof runs->unsampled, "interrupted before a run with samples");
}

bool host_runs_go(struct host_runs *runs, const struct host_runs_request *request, int *exec_status,
                  struct error *error) {
    double clocks[HOST_RUNS_MOST + 1];
    bool good = host_frequency(&clocks[0], error);
    host_neighbour_look(&runs->neighbour);
    runs->wanted = request->runs;
    runs->tick = tick_seconds();
    watch_begin(request->watch, "measuring", "runs", 2 * request->runs);
    for (uint32_t i = 0; good && i < request->runs && !request->watch->signal; i++) {
        good = time_run(runs, request, &clocks[runs->count + 1], exec_status, error);
        host_neighbour_look(&runs->neighbour);
        watch_progress(request->watch, i + 1);
    }
    if (good) {
        host_runs_conclude(runs, clocks);
        sample_runs(runs, request);
    }
    watch_end(request->watch);
    return good && (runs->count || error_set(error, "interrupted before a run was measured"));
}

void host_runs_free(struct host_runs *runs) {
    host_neighbour_free(&runs->neighbour);
}
