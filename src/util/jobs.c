#include "util/jobs.h"

#include <unistd.h>

uint32_t jobs_processors(void) {
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    return processors > 1 ? (uint32_t)processors : 1;
}

uint32_t jobs_or_processors(uint32_t jobs) {
    return jobs ? jobs : jobs_processors();
}
