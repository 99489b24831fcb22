/* What tests that print images call their kinds. */
#pragma once

#include "store/store.h"

static const char *const KINDS[IMAGE_KINDS] = {"file", "kernel",  "module", "vdso",
                                               "jit",  "unknown", "source"};
