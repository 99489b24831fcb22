/* The lines that perf script prints. A sample is one line, or a head and one line for each frame of
 * its call stack, innermost first, and an empty line:
 *
 *     gzip 27969 [001]  1947.103432:     500000 cpu-clock:      5647b5325883 f+0x3 (/usr/bin/gzip)
 *
 *     sh 27993  1948.257504:     500000 cpu-clock:
 *     <tab>           1469e handle_amd+0x7e (/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2)
 *
 * Every field may be missing (perf script -F). Parsing cuts the line up; what it finds points into
 * it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct perf_head {
    char *command; /* "" when not printed */
    int64_t pid;   /* of the process, or of the thread where only that is printed; −1: neither */
    bool anchored; /* there is a time, or an event and a pid: this can be nothing else */
    bool timed;
    uint64_t time_ns; /* of a clock that began somewhere; when `timed` */
    uint64_t period;  /* 0: not printed */
    char *event;      /* without modifiers ("cycles" of "cycles:upp"); NULL: not printed */
    bool precise;     /* the modifiers said p or P */
    char *rest;       /* what follows; "" of a sample with its stack below */
};
/* A line that is not empty. Without an anchor all of it is the command, perhaps with a pid. */
void perf_head_parse(char *line, struct perf_head *head);

struct perf_frame {
    uint64_t address;
    char *symbol; /* NULL: not known or not printed */
    bool placed;  /* `symbol_offset`, the distance from its beginning, was printed */
    uint64_t symbol_offset;
    char *image; /* path, or a name in brackets; NULL: not printed */
    bool has_image_offset;
    uint64_t image_offset; /* of perf script -F +dsoff */
    bool inlined;          /* a function inlined in that of the next frame */
};
/* False: it does not begin with an address. */
bool perf_frame_parse(char *text, struct perf_frame *frame);

/* A mapping, from the rest of a line of --show-mmap-events. */
struct perf_mapping {
    int64_t pid;
    uint64_t start, end, file_offset;
    char *path;
    uint8_t build_id[20];
    unsigned build_id_size; /* 0: not printed */
};
/* False: it is none, or not executable. */
bool perf_mapping_parse(char *text, struct perf_mapping *mapping);

/* A new process or thread, from a line of --show-task-events. */
bool perf_fork_parse(char *text, int64_t *pid, int64_t *tid, int64_t *parent);
