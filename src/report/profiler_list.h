/* Which profilers there are. */
#pragma once

#include <stdio.h>

/* Each with what it does, where it is from, and the events it tells of. */
void profiler_list_text(FILE *file);
