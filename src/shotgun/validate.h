/* Constructed fragments against the paths that were executed. */
#pragma once

#include "shotgun/shotgun.h"

/* Counts what became of a fragment; `path`: static instructions that were executed, or NULL. */
void shotgun_count(struct shotgun_statistics *statistics, const struct shotgun_fragment *fragment,
                   const uint32_t *path);
