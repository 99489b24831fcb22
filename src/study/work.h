/* Tasks of another culprit, done on a node of a cluster (cluster/cluster.h): each makes a file of
 * the folder that all nodes see. */
#pragma once

#include <jansson.h>

#include "study/study.h"

enum { WORK_VERSION = 64 };

struct work {
    /* Set before. */
    struct watch *watch;
    const char *version; /* of this culprit */
    const char *path;    /* of the file of tasks */
    uint32_t element;
    void (*failed)(void *context, uint32_t number, const struct error *error);
    void *context;

    size_t done, failures;
};

/* Does the tasks of an element, one after the other; one that fails is told, and the others go on.
 * False: none could be begun. */
bool work_go(struct work *work, struct error *error);

/* What culprits must have in common: version, and the number of what simulates. */
void work_version(const char *version, char text[WORK_VERSION]);

/* How a task names a file: by its whole path. */
json_t *work_file_name(const char *name);
/* And a machine: likewise, where machine_load() takes the name as a path. */
json_t *work_machine_name(const char *name);

/* ---- what tasks there are: an entry of a table in work.c ---- */

/* What a task is made with: the folder, and as in struct work. */
struct work_place {
    struct watch *watch;
    const char *folder, *version;
};

/* A region of a list (study/region_tasks.h). */
bool region_work(const struct work_place *place, const json_t *task, struct error *error);
/* A point of a sweep (study/design.h). */
bool design_work(const struct work_place *place, const json_t *task, struct error *error);
