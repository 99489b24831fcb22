/* Tracers that attribute. */
#pragma once

#include "tap/tracers/tracer.h"

extern const struct tracer_kind calls_tracer, counters_tracer;
