/* A list of regions of a run, and its file: comma-separated values in the manner of PinPlay's, with
 * markers at both ends (PinPoints §3.1), so that each region can be found in a later run.
 *
 *     # culprit-regions 1
 *     # isa: x86_64
 *     # command: gzip -9 -c big.tar
 *     # instructions: 8190211003             of the whole run, all threads
 *     # slices: 820                          that the regions were chosen from
 *     # method: simpoint                     or random, systematic
 *     # merged: 0 3 24560211003              chosen from several runs: which of them it is, how
 *                                            many there are, instructions of all
 *     # process: 0 - 0 0 /usr/bin/gzip       where processes come from, as slices.h has it in
 *     # process-command: 0 gzip -9 big.tar   process, origin
 *     # thread: 0 0 0                        and thread
 *     comment,process,thread-id,region-id,slice,start-icount,end-icount,start-image,start-build-id,
 *         start-offset,start-count,end-image,end-build-id,end-offset,end-count,region-length,
 *         region-weight,region-multiplier                                        (on one line)
 *     cluster 0,0,0,1,17,170000041,180000044,/usr/bin/gzip,4f6e...,0x6a2c,35012,/usr/bin/gzip,...
 *
 * and, after the regions were captured (trace --regions), four columns more:
 *
 *     ...,trace,trace-start,trace-end,skew
 *
 * Fields with commas, quotes or line ends stand in quotes, those doubled (RFC 4180). An end marker
 * that is empty: the region ends with its thread, or where it has its instructions. A start marker
 * that is empty: the profile had no file of slices, so that the region cannot be found in a run.
 * The columns of a trace are empty for a region that was not captured. Numbers are decimal but
 * offsets. Comments of other words say nothing. */
#pragma once

#include <stdio.h>

#include "region/slices.h"

enum { REGIONS_MAX = 1 << 20, REGIONS_MAX_IMAGES = 4096 }; /* of a list that is read */

struct region {
    uint32_t id;      /* from 1, by place in the run */
    uint32_t cluster; /* that it stands for, alone or with other regions */
    uint32_t slice;   /* from 0, of the table it was chosen from */
    uint32_t process, thread;
    uint64_t first, instructions; /* in its thread: [first, first + instructions) */
    struct region_marker start;   /* count 0: not known */
    struct region_marker end;     /* count 0: none, the end of the thread */
    double weight;                /* share of all instructions that it stands for; their sum is 1,
                                     over the lists of all runs where several were merged */
    double multiplier;            /* that many times its own instructions */

    /* Where it was captured; trace NULL: not yet. */
    char *trace;          /* path, relative to the folder of the list's file */
    uint64_t trace_start; /* instructions in the trace before it: its warm-up prefix */
    uint64_t trace_end;   /* and to its end */
    int64_t skew;         /* instructions of the thread at the start marker, beyond
                             `first` */
};

struct region_list {
    enum isa isa;
    char *command;
    char *method;
    uint64_t instructions, slice_count;
    uint32_t run, runs;        /* merged: which of how many; runs 0: not merged */
    uint64_t all_instructions; /* merged: of all runs together */
    struct region_image *images;
    size_t image_count, image_capacity;
    struct slice_process *processes; /* of the run, by number; none: not known */
    size_t process_count, process_capacity;
    struct slice_thread *threads; /* that have regions, by number; likewise */
    size_t thread_count, thread_capacity;
    struct region *regions;
    size_t region_count, region_capacity;
};

/* How far a sum of weights may be from 1. */
#define REGIONS_WEIGHTS_OFF 0.01

/* Fails with file and line on anything not as above, when ids do not grow, on regions that overlap
 * within a thread, and unless the weights sum to 1, so that a list of one of several merged runs is
 * refused. region_list_free() either way. */
bool region_list_read(struct region_list *list, const char *path, struct error *error);
/* The same, but takes the lists of merged runs (region_lists_are_whole() in captured.h). */
bool region_list_read_merged(struct region_list *list, const char *path, struct error *error);
/* Sum of the weights of its regions. */
double region_list_weights(const struct region_list *list);
/* Instructions that the list's regions stand for: the run's, or their part of all merged runs'. */
uint64_t region_list_stands_for(const struct region_list *list);
/* Without an eye on what `out` makes of it. */
void region_list_print(const struct region_list *list, FILE *out);
void region_list_free(struct region_list *list);

/* Where a region that was captured lies: the path of its trace (free; NULL: out of memory) as seen
 * from the list's own, and where the region ends in it. */
char *region_trace_path(const struct region *region, const char *list_path);
uint64_t region_trace_stop(const struct region *region);

/* Whether all is known of where the regions' threads are found in another run: processes by what
 * they execute and who forked them. Else they are known by their numbers alone. */
bool region_list_has_origins(const struct region_list *list);
/* Its thread's number among those of its process, from 0. */
uint32_t region_list_ordinal(const struct region_list *list, const struct region *region);

/* Index of the image, added when it is new; UINT32_MAX: out of memory. */
uint32_t region_list_image(struct region_list *list, const struct region_image *image);
