/* Tracers that attribute. */
#ifndef CULPRIT_ATTRIBUTE_TRACERS_H
#define CULPRIT_ATTRIBUTE_TRACERS_H

#include "tap/tracers/tracer.h"

extern const struct tracer_kind calls_tracer, counters_tracer;

#endif
