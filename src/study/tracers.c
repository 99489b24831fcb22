#include "study/tracers.h"

#include "attribute/tracers.h"
#include "samples/tracer.h"
#include "shotgun/tracer.h"

const struct tracer_kind *const tracer_kinds[] = {
    &binary_tracer, &csv_tracer, &calls_tracer, &counters_tracer, &bbv_tracer,
    &life_tracer,   &tip_tracer, &tea_tracer,   &shotgun_tracer,  NULL};
