/* All built-in tracers. */
#pragma once

#include "tap/tracers/tracer.h"

extern const struct tracer_kind *const tracer_kinds[]; /* NULL at the end */
