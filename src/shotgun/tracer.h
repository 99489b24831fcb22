/* The tracer that writes a shotgun profiler's samples to a file. */
#pragma once

#include "tap/tracers/tracer.h"

extern const struct tracer_kind shotgun_tracer;
