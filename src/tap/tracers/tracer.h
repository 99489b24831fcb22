/* Built-in workers that write a file (paper C §3), each in a file of its own with a row in a
 * table (study/tracers.c), and the set of them that a run asked for.
 *
 *     tracers_add(tracers, "csv:run.csv,start=cycle:1000", &error)   as often as there are
 *     tracers_open(tracers, true, &error)                            makes the files
 *     tracers_attach, tracers_learn, tracers_detach                  while cores run
 *     tracers_close(tracers, code, &error)                           what was recorded is there
 */
#pragma once

#include "machine/machine.h"
#include "tap/places.h"
#include "tap/tap.h"
#include "tap/tracers/trigger.h"
#include "util/stream.h"

/* What is simulated; set before the first core is made. */
struct tracer_run {
    const struct machine *machine;
    const char *command;
    const char *const *settings; /* changes of the machine that were asked for, as typed */
    uint32_t setting_count;
};

struct tracer_options {
    const char *path;
    uint64_t interval; /* cycles or instructions, as the tracer counts; ≥ 1 */
    bool random;       /* a random cycle of each interval in place of its last */
    uint64_t seed;     /* of the choice */
    const struct places *places;
    const struct tracer_run *run;
};

/* A row. All but open and close run on the tracer's thread; a lane is one core. */
struct tracer_kind {
    const char *name, *description;
    uint32_t records;          /* bit set of 1 << enum tap_kind, beside commits and flushes */
    uint64_t interval;         /* the default; 0: it has none */
    const char *interval_unit; /* "cycles" */
    bool samples;              /* one cycle of each interval; it may be a random one */
    void *(*open)(const struct tracer_options *options, struct error *error);
    void *(*begin)(void *tracer, struct tap_source source, struct error *error);
    bool (*consume)(void *lane, const struct tap_buffer *buffer, struct error *error);
    bool (*end)(void *lane, struct error *error); /* frees the lane */
    /* Writes what is left and frees; all lanes have ended. `code` NULL: nothing was simulated. */
    bool (*close)(void *tracer, const struct code *code, struct error *error);
};

/* The beginning of a tracer that writes its file as it goes. */
struct tracer_file {
    struct stream stream;
    const struct places *places;
};
/* For `open`: a tracer of `size` bytes, zero behind its beginning, and the file with this head. */
void *tracer_file_open(size_t size, const struct tracer_options *options, const void *head,
                       size_t head_size, struct error *error);
/* A `close`, and an `end`, where there is nothing else to write or to free. */
bool tracer_file_close(void *tracer, const struct code *code, struct error *error);
bool tracer_end_lane(void *lane, struct error *error);

extern const struct tracer_kind binary_tracer, csv_tracer, bbv_tracer, life_tracer;

enum { TRACERS_MAX = 16 };
struct tracers;
/* `kinds`: those to choose from, NULL at the end. */
struct tracers *tracers_new(const struct tracer_kind *const *kinds);
/* KIND:FILE[,start=TRIGGER][,stop=TRIGGER][,interval=N][,sampling=random|periodic][,seed=N]
 * (trigger.h); the text must live on. FILE may have commas in it when a dot or a slash follows
 * each. */
bool tracers_add(struct tracers *tracers, const char *text, struct error *error);
/* Opens the files. With `threads` each tracer runs on a thread of its own, else all on the core's.
 */
bool tracers_open(struct tracers *tracers, bool threads, struct error *error);

/* Only before the first core is made. What `run` points to must live on. */
void tracers_tell(struct tracers *tracers, const struct tracer_run *run);

/* For a simulation's observer: the context is the struct tracers. */
bool tracers_attach(void *context, struct tap_source source, struct tap *tap, void **state,
                    struct error *error);
void tracers_detach(void *context, void *state);
bool tracers_learn(void *context, const struct code *code, struct error *error);

/* Ends the files. Fails with the first error since the last core was made, if there was one. */
bool tracers_close(struct tracers *tracers, const struct code *code, struct error *error);
void tracers_free(struct tracers *tracers);

/* The next tracer for which a trigger never came on any core: what to say of it, and its kind and
 * file as asked for. Only when all cores are detached. *next is 0 at first. NULL: there are no
 * more. */
const char *tracers_missed(const struct tracers *tracers, uint32_t *next, const char **kind,
                           const char **path);
