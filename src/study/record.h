/* Samples of a command, or of a process that runs, saved as an epoch of the profile database. */
#pragma once

#include "live/recording.h"
#include "study/study.h"

struct recording_request {
    struct watch *watch;
    char **command;         /* NULL: `pid` */
    const int *descriptors; /* its standard streams, as of command_start(); NULL: the caller's */
    pid_t pid;
    bool no_symbols;      /* names are not kept with the samples */
    bool user_only;       /* no samples of the kernel, even where that is permitted */
    const char *store;    /* NULL: the default one */
    const char *events;   /* NULL: what the machine has (live_events_choose) */
    double rate;          /* samples per second and processor */
    double seconds;       /* 0: as long as it runs */
    bool off_cpu;         /* waits are timed */
    uint32_t stack_bytes; /* as struct recorder_options has it */
    struct sample_slicing slicing;
};

/* Records until the command or process ends, `seconds` are over, or a signal comes: of a command it
 * is passed on. *exec_status becomes 126 or 127 when the command cannot be run or found. What could
 * be collected is saved, and told in *recording (session 0: nothing was saved), also on failure. */
bool record_run(const struct recording_request *request, struct recording *recording,
                int *exec_status, struct error *error);
