/* What `culprit fdo` tells of the profile that it wrote. */
#pragma once

#include <stdio.h>

#include "study/fdo_run.h"

/* `path`: of the profile. */
void fdo_report_text(const struct fdo_run *run, const char *path, FILE *file);
/* One object (docs/json.md). */
bool fdo_report_json(const struct fdo_run *run, const char *path, FILE *file, struct error *error);
