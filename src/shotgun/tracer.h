/* The tracer that writes a shotgun profiler's samples to a file. */
#ifndef CULPRIT_SHOTGUN_TRACER_H
#define CULPRIT_SHOTGUN_TRACER_H

#include "tap/tracers/tracer.h"

extern const struct tracer_kind shotgun_tracer;

#endif
