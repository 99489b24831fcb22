/* Inside of this room: an array of jobs is written down and submitted; and what the log of a job
 * says of a task. */
#pragma once

#include "cluster/cluster.h"
#include "cluster/jobs_folder.h"
#include "cluster/ledger.h"

/* Tasks of a request that are submitted together, as one array of jobs. */
struct task_array {
    uint32_t number;      /* of the submission, from 0 */
    const size_t *chosen; /* tasks of the request */
    uint32_t count;       /* of them */
    uint32_t each;        /* to a job */
};

/* `known` are the numbers of the arrays submitted before, *array becomes that of this one. */
enum slurm_answer submission_make(const struct cluster_request *request,
                                  const struct jobs_folder *jobs, const struct task_array *tasks,
                                  const uint64_t *known, uint64_t *array, struct error *error);
/* What is wrong with a task that is given up: what the log says of it, its job (NULL: it is not
 * known), and where the log lies. */
void submission_why(const struct jobs_folder *jobs, const char *folder,
                    const struct task_record *record, const struct slurm_element *element,
                    uint64_t array, struct error *why);

/* For tests. A word for sh(1), and a path for sbatch's --output, in which % is a symbol; to be
 * freed; NULL: out of memory. */
char *submission_quoted(const char *word);
char *submission_pattern(const char *path);
/* The line "task NUMBER: ..." of a log, behind that beginning; else its last line. Empty: neither.
 */
void submission_said(const char *log, size_t size, uint32_t number, bool *of_task, char *line,
                     size_t room);
