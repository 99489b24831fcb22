/* Samples of TIP and TEA as a profiler's driver stores them (paper A §3.2, paper B §3): 88 bytes
 * each on a core that commits four, of which 40 are what perf stores of every sample and 48 are the
 * profiler's registers. Written while a simulation runs, read back one by one.
 * docs/sample-format.md is the specification.
 *
 * Writing:
 *     struct sample_writer *writer = sample_writer_new(file, &header, places, context, &error);
 *     struct sample_lane *lane = sample_lane_new(writer, process, thread);       one per core
 *     struct tap_worker worker = sample_lane_worker(lane);         tap_add_worker, the core runs
 *     sample_lane_free(lane);
 *     sample_writer_close(writer, &error);
 *
 * Reading:
 *     struct sample_reader *reader = sample_reader_open("gzip.samples", &error);
 *     while ((status = sample_reader_next(reader, &sample, &error)) > 0) ...
 *     sample_reader_close(reader); */
#pragma once

#include <stdio.h>

#include "attribute/profiler.h"
#include "attribute/tip.h"

enum { SAMPLE_MAX_BANKS = 32, SAMPLE_MAX_TEXT = 65535 };

/* What holds for all samples of a file. */
struct sample_header {
    bool events;                     /* TEA's; else TIP's, without signatures */
    bool nine_events;                /* read from a file of version 1: signatures have no ST-FW */
    uint32_t commit_width;           /* address registers: 1 to SAMPLE_MAX_BANKS */
    uint64_t clock_hz;               /* of the cores */
    struct sampler_options sampling; /* with a period */
    const char *machine, *command;
};

/* One sample. */
struct sample {
    uint32_t process, thread, core;
    uint64_t time;   /* the cycle in which it was complete and raised its interrupt */
    uint64_t period; /* cycles that were asked for */
    uint64_t cycles; /* since the cycle that was sampled before, on this core: its weight */
    uint32_t flags;  /* enum tip_flags */
    uint32_t oldest; /* Oldest ID */
    uint32_t valid;  /* bit per address register */
    uint64_t address[SAMPLE_MAX_BANKS]; /* 0 where not valid */
    uint16_t events[SAMPLE_MAX_BANKS];  /* enum psv; likewise */
};

/* The registers that share the sample's cycles, oldest first, as their numbers. */
unsigned sample_sharers(const struct sample *sample, uint32_t commit_width, uint8_t *banks);

/* Bytes per second of simulated time at one sample every `period` cycles. */
double sample_rate(uint32_t sample_bytes, uint64_t period, uint64_t clock_hz);

/* ---- where instructions lie ---- */

struct sample_place {
    uint64_t address; /* virtual */
    uint32_t image;   /* number of the file it lies in */
    uint64_t offset;  /* in the file */
    const char *path; /* of the file */
    const uint8_t *build_id;
    uint8_t build_id_size; /* 0: none; at most 20 */
};
/* Tells of a static instruction; called on the thread of the lanes. */
typedef void (*sample_places)(void *context, uint32_t insn, struct sample_place *place);

/* ---- writing ---- */

struct sample_writer;
/* Writes to `file`, which stays the caller's, and is called `name` in errors. NULL with an error.
 */
struct sample_writer *sample_writer_new(FILE *file, const char *name,
                                        const struct sample_header *header, sample_places places,
                                        void *context, struct error *error);
/* Ends the file, if the writer was without errors, and frees the writer. */
bool sample_writer_close(struct sample_writer *writer, struct error *error);

/* One core that runs this thread of this process. All lanes on one executor's thread. */
struct sample_lane;
struct sample_lane *sample_lane_new(struct sample_writer *writer, uint32_t process,
                                    uint32_t thread); /* NULL: out of memory */
struct tap_worker sample_lane_worker(struct sample_lane *lane);
void sample_lane_free(struct sample_lane *lane);

/* ---- reading ---- */

struct sample_reader;
struct sample_reader *sample_reader_open(const char *path, struct error *error); /* "-": stdin */
void sample_reader_close(struct sample_reader *reader);
/* Its texts are the reader's. */
const struct sample_header *sample_reader_header(const struct sample_reader *reader);
/* 1: got one; 0: the end; −1: an error. */
int sample_reader_next(struct sample_reader *reader, struct sample *sample, struct error *error);
/* After the end: the file lacks its own. */
bool sample_reader_is_cut(const struct sample_reader *reader);
/* Where an address of a process lies, as far as the file has been read; false: not known. */
bool sample_reader_place(const struct sample_reader *reader, uint32_t process, uint64_t address,
                         struct sample_place *place);
