/* What --cluster says: which scheduler, and what it is told of each job.
 *
 *     slurm
 *     slurm:partition=short,account=physics,time=1:00:00,mem=4G
 *
 * Values are those that the scheduler's own options take (sbatch(1)). A comma within brackets is
 * part of a value: exclude=node[1,3]. A key whose option takes a list may be repeated. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/error.h"

enum { CLUSTER_MOST_PASSED = 32 };

struct cluster_options {
    bool wanted; /* --cluster was given */
    /* Options of sbatch, as "--account=physics". */
    char *passed[CLUSTER_MOST_PASSED];
    size_t passed_count;
    const char *time,
        *memory;   /* values of two of them; NULL: not given, so that the study's count */
    uint32_t cpus; /* of each job */
    uint32_t each; /* tasks of a job; 0: as many as are worth one */
    double grace;  /* seconds that a result may come after the end of its job */
    char *program; /* culprit on the nodes; NULL: as here */
    char *text;    /* that the values are part of */
};

/* False with an error that does not name the option. cluster_options_free() either way. */
bool cluster_options_parse(struct cluster_options *options, const char *text, struct error *error);
void cluster_options_free(struct cluster_options *options);
