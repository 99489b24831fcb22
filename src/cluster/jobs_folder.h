/* Inside of this room: where files of tasks and logs of jobs lie, FOLDER/jobs/NAME/. It stays when
 * tasks failed, for the logs' sake, until the next run in the folder. */
#pragma once

#include <stdbool.h>

#include "cluster/slurm.h"

struct jobs_folder {
    char *path;            /* FOLDER/jobs/NAME */
    char name[SLURM_NAME]; /* of the jobs: "culprit-0123456789abcdef" */
};

/* Cancels what others of the folder may have left running, and removes what they left; makes a new
 * one. jobs_folder_free() either way. */
bool jobs_folder_make(struct jobs_folder *jobs, const char *folder, struct error *error);
/* The path of a file in it; to be freed; NULL: out of memory. */
char *jobs_folder_file(const struct jobs_folder *jobs, uint32_t submission, const char *ending);
/* With what is in it. */
void jobs_folder_remove(const struct jobs_folder *jobs);
void jobs_folder_free(struct jobs_folder *jobs);
