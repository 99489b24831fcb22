/* Tracers that write TIP's and TEA's samples to a file. */
#pragma once

#include "tap/tracers/tracer.h"

extern const struct tracer_kind tip_tracer, tea_tracer;
