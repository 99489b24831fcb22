/* The layout of a struct, of a run that was simulated: what was asked for, or what is worth
 * advising. */
#pragma once

#include "study/simulated_run.h"
#include "study/struct_run.h"

struct struct_wish {
    const char *type; /* NULL: the struct with most cycles of misses */
    bool given;
};

/* Before the run is opened: it is read again. */
void struct_advice_prepare(const struct struct_wish *wish, struct simulated_run *study);
/* Once it was simulated: what was asked for, or else what is worth advising, in short runs that
 * tell what would be saved. The run's file is then not needed any more. */
bool struct_advice_go(const struct struct_wish *wish, struct simulated_run *study,
                      struct program *program, struct struct_run *structs, struct error *error);
