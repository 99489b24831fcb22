/* Traces of other tools do not tell which files their code lies in: all of it is of one image,
 * which has the tool's name. */
#pragma once

#include <stdbool.h>
#include <string.h>

#define CHAMPSIM_IMAGE   "[champsim]"
#define DRMEMTRACE_IMAGE "[drmemtrace]"

static inline bool is_foreign_image(const char *path) {
    return !strcmp(path, CHAMPSIM_IMAGE) || !strcmp(path, DRMEMTRACE_IMAGE);
}
