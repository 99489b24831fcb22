/* --fields: the map of a struct, and what it would save to lay it out anew. Of verbs with a struct
 * run. */
#pragma once

#include "cmd/options.h"
#include "report/report.h"
#include "study/simulated_run.h"
#include "study/struct_run.h"

struct struct_options {
    const char *type; /* NULL: the struct with most cycles of misses */
    bool given;
};
extern const struct option_group struct_group;

/* Before the run is opened: it is read again. */
void structs_prepare(const struct struct_options *options, struct simulated_run *study);
/* Once it was simulated: what was asked for, or else what is worth advising, in short runs that
 * tell what would be saved. The run's file is then not needed any more. */
bool structs_run(const struct struct_options *options, struct simulated_run *study,
                 struct program *program, struct struct_run *structs, struct error *error);
/* Fails where only a part of a trace file is asked for, as all of it is read. */
void structs_check(struct argp_state *state, const struct struct_options *options,
                   const struct input_options *input);
