/* Tracers that write TIP's and TEA's samples to a file. */
#ifndef CULPRIT_SAMPLES_TRACER_H
#define CULPRIT_SAMPLES_TRACER_H

#include "tap/tracers/tracer.h"

extern const struct tracer_kind tip_tracer, tea_tracer;

#endif
