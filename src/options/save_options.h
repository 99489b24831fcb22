/* Where the profile of a run is kept. */
#pragma once

#include "options/option.h"
#include "report/save.h"

extern const struct option_group save_group; /* --save, --store FILE, --export FILE, --format,
                                                --push; of a struct save_options */
