#include "study/design_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "study/ini_file.h"
#include "util/array.h"

static bool take_program(struct design_file *design, const char *name, const char *key,
                         const char *value, struct error *error) {
    if (strcmp(key, "command") != 0)
        return error_set(error, "%.100s: a [program] has its command alone", key);
    if (any_where(i, design->program_count, !strcmp(design->programs[i].name, name)))
        return error_set(error, "[program %.100s] is there twice", name);
    if (design->program_count == DESIGN_FILE_PROGRAMS)
        return error_set(error, "more than %d programs", DESIGN_FILE_PROGRAMS);
    struct design_file_program *program = &design->programs[design->program_count++];
    program->name = strdup(name);
    program->command = strdup(value);
    return (program->name && program->command) || error_set(error, "out of memory");
}

static bool take_sweep(struct design_file *design, const char *key, const char *value,
                       struct error *error) {
    char **at = !strcmp(key, "machine") ? &design->machines
                : !strcmp(key, "cost")  ? &design->cost
                                        : NULL;
    if (!at || *at)
        return error_set(error, at ? "%.100s is there twice" : "%.100s: one of machine, cost", key);
    *at = strdup(value);
    return *at || error_set(error, "out of memory");
}

static bool take_setting(struct design_file *design, const char *key, const char *value,
                         struct error *error) {
    if (design->setting_count == DESIGN_FILE_SETTINGS)
        return error_set(error, "more than %d keys", DESIGN_FILE_SETTINGS);
    char **at = &design->settings[design->setting_count];
    if (asprintf(at, "%s=%s", key, value) < 0) {
        *at = NULL;
        return error_set(error, "out of memory");
    }
    design->setting_count++;
    return true;
}

static bool take(void *context, const char *section, const char *key, const char *value,
                 struct error *error) {
    static const char PROGRAM[] = "program ";
    struct design_file *design = context;
    if (!*value)
        return error_set(error, "%.100s is empty", key);
    if (!strncmp(section, PROGRAM, sizeof PROGRAM - 1)) {
        const char *name = section + sizeof PROGRAM - 1;
        name += strspn(name, " \t");
        if (*name && value[strspn(value, " ")])
            return take_program(design, name, key, value, error);
    }
    if (!strcmp(section, "sweep"))
        return take_sweep(design, key, value, error);
    if (!strcmp(section, "set"))
        return take_setting(design, key, value, error);
    return error_set(error, "[%.100s]: one of [program NAME], [sweep], [set]", section);
}

bool design_file_read(struct design_file *design, const char *path, struct error *error) {
    const struct ini_file file = {
        .path = path, .section = "section", .take = take, .context = design};
    *design = (struct design_file){0};
    return ini_file_read(&file, error);
}

void design_file_free(struct design_file *design) {
    for (size_t i = 0; i < design->program_count; i++) {
        free(design->programs[i].name);
        free(design->programs[i].command);
    }
    for (size_t i = 0; i < design->setting_count; i++)
        free(design->settings[i]);
    free(design->machines);
    free(design->cost);
}
