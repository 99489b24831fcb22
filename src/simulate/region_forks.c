#include "simulate/region_forks.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Of one region with one idealisation. Processes write it, in memory that they share. */
struct fork_result {
    uint64_t cycles;
    bool done;
};

struct region_forks {
    uint32_t ideals[REGION_FORKS_MOST];
    size_t count, each, regions;
    struct fork_result *results; /* by region, then by idealisation */
    uint64_t *cycles;            /* by region: as it is */
    size_t region;               /* the next one */
    uint64_t begin;              /* cycles before the region under way */
    bool under_way;
    struct fork_result *own; /* in a process of an idealisation; else NULL */
    uint32_t at_once, running;
    pid_t *processes;
};

static size_t result_bytes(const struct region_forks *forks) {
    return (forks->regions * forks->count + 1) * sizeof *forks->results;
}

/* The one that began first. */
static void await_process(struct region_forks *forks) {
    while (waitpid(forks->processes[0], NULL, 0) < 0 && errno == EINTR)
        continue;
    forks->running--;
    for (uint32_t i = 0; i < forks->running; i++)
        forks->processes[i] = forks->processes[i + 1];
}

void region_forks_free(struct region_forks *forks) {
    if (!forks)
        return;
    for (uint32_t i = 0; i < forks->running; i++)
        kill(forks->processes[i], SIGKILL);
    while (forks->running)
        await_process(forks);
    if (forks->results != MAP_FAILED)
        munmap(forks->results, result_bytes(forks));
    free(forks->cycles);
    free(forks->processes);
    free(forks);
}

struct region_forks *region_forks_new(const uint32_t *ideals, size_t count, size_t each,
                                      size_t regions, uint32_t at_once) {
    struct region_forks *forks = calloc(1, sizeof *forks);
    if (!forks)
        return NULL;
    forks->count = count < REGION_FORKS_MOST ? count : REGION_FORKS_MOST;
    forks->each = each < forks->count ? each : forks->count;
    forks->regions = regions;
    forks->at_once = at_once ? at_once : 1;
    for (size_t i = 0; i < forks->count; i++)
        forks->ideals[i] = ideals[i];
    forks->results =
        mmap(NULL, result_bytes(forks), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    forks->cycles = calloc(regions + 1, sizeof *forks->cycles);
    forks->processes = calloc(forks->at_once, sizeof *forks->processes);
    if (forks->results != MAP_FAILED && forks->cycles && forks->processes)
        return forks;
    region_forks_free(forks);
    return NULL;
}

/* ---- a region ---- */

/* Where memory runs out, this process is ended before the one that it works for (proc(5)). */
static void end_first(void) {
    static const char MOST[] = "1000";
    const int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (file < 0)
        return;
    if (write(file, MOST, sizeof MOST - 1) < 0)
        errno = 0; /* it is as likely to be ended as others */
    close(file);
}

/* True in the process that is made. Signals are for the other one, which ends this one. */
static bool make_process(struct region_forks *forks, struct fork_result *result) {
    while (forks->running >= forks->at_once)
        await_process(forks);
    const pid_t parent = getpid(), process = fork();
    if (process > 0)
        forks->processes[forks->running++] = process;
    if (process != 0)
        return false;
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    end_first();
    if (getppid() != parent)
        _exit(1);
    forks->own = result;
    return true;
}

uint32_t region_forks_begin(struct region_forks *forks, uint64_t cycles) {
    forks->begin = cycles;
    forks->under_way = forks->region < forks->regions;
    for (size_t i = 0; i < forks->each && forks->under_way; i++) {
        const size_t number = (forks->region * forks->each + i) % forks->count;
        if (make_process(forks, &forks->results[forks->region * forks->count + number]))
            return forks->ideals[number];
    }
    return 0;
}

void region_forks_end(struct region_forks *forks, bool good, uint64_t cycles) {
    if (forks->own) {
        forks->own->cycles = cycles - forks->begin;
        forks->own->done = good && forks->under_way;
        _exit(0);
    }
    if (forks->under_way && good)
        forks->cycles[forks->region++] = cycles - forks->begin;
    forks->under_way = false;
}

/* ---- what they save ---- */

/* Of the region with the idealisation; NULL: it had no turn there, or did not come to its end. */
static const struct fork_result *result_of(const struct region_forks *forks, size_t region,
                                           size_t number) {
    const struct fork_result *result = &forks->results[region * forks->count + number];
    return result->done ? result : NULL;
}

bool region_forks_saving(struct region_forks *forks, uint32_t ideal, double *saving,
                         double *interval) {
    size_t number = 0, known = 0;
    double all = 0, saved = 0, squares = 0;
    while (number < forks->count && forks->ideals[number] != ideal)
        number++;
    while (forks->running)
        await_process(forks);
    for (size_t region = 0; number < forks->count && region < forks->region; region++) {
        const struct fork_result *result = result_of(forks, region, number);
        if (!result)
            continue;
        known++;
        all += (double)forks->cycles[region];
        saved += (double)forks->cycles[region] - (double)result->cycles;
    }
    if (known < 2 || 2 * known * forks->count < forks->region * forks->each || all <= 0)
        return false;
    *saving = saved / all;
    for (size_t region = 0; region < forks->region; region++) {
        const struct fork_result *result = result_of(forks, region, number);
        const double cycles = (double)forks->cycles[region];
        const double beside = result ? (1 - *saving) * cycles - (double)result->cycles : 0;
        squares += beside * beside;
    }
    *interval = 1.96 * sqrt(squares * (double)known / (double)(known - 1)) / all;
    return true;
}
