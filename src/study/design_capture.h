/* A program captured once, to be simulated on many machines: the trace of a short run, or of
 * threads; regions of a longer one, each with its warm-up, each in a trace of its own.
 *
 * All is in one folder, in files whose names begin with the key of what they depend on: the command
 * with what its program's file and its standard input hold, and how it is captured. Their
 * description, KEY.capture.json, is written last. Found there, the command is not run. Other files
 * that the command reads are not looked at. */
#pragma once

#include "study/input.h"
#include "study/study.h"

enum { DESIGN_KEY = 33 }; /* 32 hexadecimal digits of a hash, and the end */

enum design_how {
    DESIGN_IN_FULL, /* the trace */
    DESIGN_BY_REGIONS,
    DESIGN_SAMPLED /* the trace, systematically: a long run of several processes */
};

struct design_region {
    char *path;
    uint64_t start, end; /* simulated: instructions of its trace */
    uint64_t warm;       /* before `start` */
    uint32_t process, thread;
    uint64_t first; /* instruction of its thread */
    uint32_t cluster;
    uint64_t stands_for; /* instructions of the run */
};

struct design_capture {
    enum design_how how;
    enum isa isa;
    uint64_t instructions;     /* of the run */
    uint64_t slices;           /* that regions were chosen from */
    bool cut;                  /* the trace that was given is cut short */
    int status;                /* with which the command ended: its own, or 128 and a signal */
    char key[DESIGN_KEY];      /* that its files' names begin with */
    char identity[DESIGN_KEY]; /* of what the files hold */
    char *trace;               /* path; NULL: regions, or the trace that was given */
    struct design_region *regions;
    size_t region_count;
    bool found; /* it was there: nothing was run */
};

struct design_capture_request {
    struct watch *watch;
    const char *version;
    const struct input_options *input;
    const char *folder;
    uint64_t over;
    uint32_t regions;
};

/* An interrupt is an error. design_capture_free() either way. */
bool design_capture_go(const struct design_capture_request *request, struct design_capture *capture,
                       int *exec_status, struct error *error);
void design_capture_free(struct design_capture *capture);
/* Instructions that one simulation of it goes through, warm-up included. */
uint64_t design_capture_work(const struct design_capture *capture);
