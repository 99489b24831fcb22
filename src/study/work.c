#include "study/work.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/task_file.h"
#include "machine/machine.h"
#include "simulate/model.h"

static const struct work_kind {
    const char *verb;
    bool (*work)(const struct work_place *place, const json_t *task, struct error *error);
} KINDS[] = {{"sweep", design_work}, {"regions", region_work}};

void work_version(const char *version, char text[WORK_VERSION]) {
    snprintf(text, WORK_VERSION, "%s model %s", version, simulation_model());
}

static bool check_version(const struct work *work, const struct task_file *file,
                          struct error *error) {
    char here[WORK_VERSION];
    work_version(work->version, here);
    return !strcmp(here, file->version) ||
           error_set(error,
                     "%.300s: its tasks are of culprit %.60s, and the one here is %s: let all "
                     "nodes have the same (program=PATH of --cluster says which)",
                     work->path, file->version, here);
}

static bool visit(void *context, const struct task_file *file, uint32_t number, const json_t *task,
                  struct error *error) {
    struct work *work = context;
    const struct work_place place = {work->watch, file->folder, work->version};
    struct error failure = {0};
    if (!check_version(work, file, error))
        return false;
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++) {
        if (strcmp(KINDS[i].verb, file->verb) != 0)
            continue;
        if (work->watch->signal)
            return error_set(error, "interrupted");
        if (KINDS[i].work(&place, task, &failure)) {
            work->done++;
        } else {
            work->failures++;
            work->failed(work->context, number, &failure);
        }
        return true;
    }
    return error_set(error, "%.300s: culprit %.60s has no tasks", work->path, file->verb);
}

bool work_go(struct work *work, struct error *error) {
    struct task_file file;
    const struct task_visitor visitor = {visit, work};
    const bool good = task_file_read(work->path, work->element, &file, &visitor, error);
    task_file_free(&file);
    return good;
}

json_t *work_file_name(const char *name) {
    char whole[PATH_MAX];
    return json_string(realpath(name, whole) ? whole : name);
}

json_t *work_machine_name(const char *name) {
    return machine_is_path(name) ? work_file_name(name) : json_string(name);
}
