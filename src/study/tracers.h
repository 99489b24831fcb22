/* All built-in tracers. */
#ifndef CULPRIT_STUDY_TRACERS_H
#define CULPRIT_STUDY_TRACERS_H

#include "tap/tracers/tracer.h"

extern const struct tracer_kind *const tracer_kinds[]; /* NULL at the end */

#endif
