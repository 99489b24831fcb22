/* A calibration: parts, each a file, measure kernels (host/kernel.h) and say what they found. A
 * part neither knows nor asks whether the meter is this processor or a simulated machine, so what
 * it reads of a machine whose description is known tells whether its method is right.
 *
 * A part adds the kernels of a sweep to a list, has them measured, and reads its results:
 *
 *     struct kernel_list list = {0};
 *     for (unsigned n = 1; n < 100; n++) {
 *         struct assembler *code = kernel_list_add(&list, &(struct host_kernel){.iterations = 50});
 *         struct label loop = host_loop_begin(code);
 *         ...
 *         host_loop_end(code, &loop);
 *     }
 *     bool good = calibration_measure(calibration, &list, &error);
 *     ... list.results[i] ... calibration_found(calibration, &finding) ...
 *     kernel_list_free(&list); */
#pragma once

#include "calibrate/form_table.h"
#include "host/meter.h"

/* ---- kernels of a sweep ---- */

struct kernel_list {
    struct host_kernel *kernels;
    struct assembler *codes;
    struct host_result *results; /* after calibration_measure() */
    size_t count, capacity, code_capacity;
    struct assembler lost; /* code that found no memory */
};
/* The code of a new kernel, which is like `kernel` but for its code; good until the next is added.
 * When memory is out this shows when the list is measured. */
struct assembler *kernel_list_add(struct kernel_list *list, const struct host_kernel *kernel);
void kernel_list_free(struct kernel_list *list);

/* ---- what was found ---- */

enum finding_state {
    FINDING_MEASURED,
    FINDING_UNKNOWN,    /* disturbed, or the results show no clear answer: `note` says why */
    FINDING_UNSUPPORTED /* the processor lacks what it takes: `note` names it */
};
struct finding {
    const char *part; /* filled in */
    const char *key;  /* of machine files, "core.rob"; NULL: it has none there */
    const char *what; /* "reorder buffer"; a constant string, and so are the others above */
    const char *unit; /* "µops"; "": none */
    const char *word; /* of keys that are not numbers: "yes", "wait_table"; NULL: `value` holds */
    enum finding_state state;
    double value, spread; /* spread: ± as far as known, else 0 */
    char note[160];       /* what the reader should know; may be empty */
};

/* ---- the calibration ---- */

struct calibration;
struct calibrate_part {
    const char *name;        /* for --only, and in reports */
    const char *measures;    /* one line */
    const char *const *keys; /* of machine files, that it fills; ends with NULL */
    /* False: it cannot go on at all (memory, no process). What single kernels do is no error. */
    bool (*run)(struct calibration *calibration, struct error *error);
};
/* In the order in which they run: a part may use what those above it found. Ends with NULL. */
extern const struct calibrate_part *const calibrate_parts[];
const struct calibrate_part *calibrate_part_find(const char *name); /* NULL: there is none */

struct calibration {
    struct host_meter *meter; /* the caller's */
    const struct calibrate_part *part;
    struct finding *findings;
    size_t count, capacity;
    bool out_of_memory;
    struct form_table forms; /* of the part of that name; freed with it */
};
/* True: at least one kernel was measured, and it was not told to stop. */
bool calibration_measure(struct calibration *calibration, struct kernel_list *list,
                         struct error *error);
/* Likewise several times, of which the fastest holds: for what another thread of the same core,
 * which may run for longer than a kernel is measured, can only slow down. */
bool calibration_measure_fastest(struct calibration *calibration, struct kernel_list *list,
                                 struct error *error);
void calibration_found(struct calibration *calibration, const struct finding *finding);
/* The last one with this key that was measured; NULL: none was. */
const struct finding *calibration_finding(const struct calibration *calibration, const char *key);
/* Its value, or `otherwise`. */
double calibration_value(const struct calibration *calibration, const char *key, double otherwise);
static inline bool calibration_stops(const struct calibration *calibration) {
    return watcher_stops(&calibration->meter->watcher);
}
/* Runs one part. */
bool calibration_run(struct calibration *calibration, const struct calibrate_part *part,
                     struct error *error);
void calibration_free(struct calibration *calibration);

/* Fills in the state of a finding that rests on these results, and why, when not all of them are
 * measured; true: they are. `spread` becomes the largest of theirs. */
bool finding_rests_on(struct finding *finding, const struct host_result *results, size_t count);
