/* All built-in tracers. */
#ifndef CULPRIT_ATTRIBUTE_TRACERS_H
#define CULPRIT_ATTRIBUTE_TRACERS_H

#include "tap/tracer.h"

extern const struct tracer_kind calls_tracer, counters_tracer;
extern const struct tracer_kind tip_tracer, tea_tracer; /* src/samples/ */
extern const struct tracer_kind shotgun_tracer;         /* src/shotgun/ */
extern const struct tracer_kind *const tracer_kinds[];  /* NULL at the end */

#endif
