/* Which of the machines that culprit describes is nearest to a processor, by its signature. */
#pragma once

#include "host/feature.h"

/* Name of a machine that machine_load() finds. Of a processor whose kind is not described: an older
 * or a newer one of its vendor's; else "zen4". */
const char *host_nearest_machine(const struct host_processor *processor);
