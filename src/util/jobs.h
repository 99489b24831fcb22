/* How much is done at once: as many things as --jobs says, else one for each processor. */
#pragma once

#include <stdint.h>

/* Those online, or 1 if that is not known. */
uint32_t jobs_processors(void);
/* `jobs`, or if it is 0 as many as there are processors. */
uint32_t jobs_or_processors(uint32_t jobs);
