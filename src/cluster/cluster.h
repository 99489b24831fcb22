/* Tasks that need no other, done by the nodes of a cluster: job arrays of Slurm, gathered by files.
 *
 *     tasks ──► jobs/NAME/1.tasks, 1.sh of a folder that all nodes see ──► sbatch --array
 *     ──► on the nodes: culprit work FILE ELEMENT ──► results, files of the folder, whole or absent
 *
 * What a task gives is a file of the folder, whose name says what it depends on: whoever knows the
 * name knows whether it has been done. Nothing is read from what jobs print, but why they failed.
 *
 * Jobs that fail, or are lost with their node, are submitted twice more; then their tasks fail,
 * with the reason and the path of the log. A controller that does not answer is waited for. An
 * interrupt cancels the jobs. What a killed culprit left running is cancelled by the next one in
 * the folder.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cluster/cluster_options.h"
#include "util/watcher.h"

struct cluster_task {
    const char *result; /* name of the file */
    char *line;         /* that tells the task: one JSON object in one line (cluster/task_file.h) */
};

struct cluster_request {
    const struct cluster_options *options;
    const char *folder;
    const char *verb, *version; /* of whoever is to do them */
    const struct cluster_task *tasks;
    size_t count;
    uint32_t at_once;   /* jobs; 0: no limit but the cluster's */
    double seconds;     /* that a task takes, roughly; its time limit is ten times that, and more */
    uint32_t megabytes; /* that it needs */
    /* The result of a task is there. False: it is none, and so it is lost. */
    bool (*take)(void *context, size_t task);
    /* It is given up. */
    void (*fail)(void *context, size_t task, const struct error *why);
    /* Tasks of which the result is not there: in jobs that run, and in others. */
    void (*note)(void *context, size_t run, size_t wait);
    void (*tell)(void *context, const char *text); /* a line for the user, at once */
    void *context;                                 /* of these four */
    struct watcher watcher;                        /* told tasks that are done */
};

/* Before anything runs: whether there is a Slurm here. */
bool cluster_is_here(struct error *error);
/* False: no task could be submitted, and none is running. An interrupt is no error. */
bool cluster_run(const struct cluster_request *request, struct error *error);
