/* A file of tasks, each to be done by any node of a cluster.
 *
 *     {"format": 1, "verb": "sweep", "version": "0.1 model 1f2e3d4c", "folder": "/home/a/kept",
 *      "each": 2, "count": 3}
 *     {"result": "0123.point.json", ...}
 *     ...
 *
 * A line each; element i of the array of jobs does the tasks i * each to (i + 1) * each - 1. What
 * else a task says is known to the verb. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/error.h"

struct task_file {
    char *verb, *version;
    char *folder; /* of results, a whole path */
    uint32_t each, count;
};

/* Writes it under a passing name, and to the disk, before it gets its own. `lines` are those of
 * tasks, without their ends. */
bool task_file_write(const char *path, const struct task_file *file, char *const *lines,
                     struct error *error);
struct task_visitor {
    bool (*visit)(void *context, const struct task_file *file, uint32_t number, const json_t *task,
                  struct error *error);
    void *context;
};
/* Its first line, and a visit of each task of an element, in their order, with its number. False:
 * it is no such file, with an error that names it; or a visit failed, with its error.
 * task_file_free() either way. */
bool task_file_read(const char *path, uint32_t element, struct task_file *file,
                    const struct task_visitor *visitor, struct error *error);
void task_file_free(struct task_file *file);
