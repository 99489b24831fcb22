#include "study/design_file.h"

#include <errno.h>
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"

struct reading {
    struct design_file *design;
    struct error *error;
    int line;
    FILE *file;
    bool failed; /* by an error of ours, of that line */
};

static int fail(struct reading *reading) {
    reading->failed = true;
    return 0;
}

static int no_memory(struct reading *reading) {
    error_set(reading->error, "out of memory");
    return fail(reading);
}

static int take_program(struct reading *reading, const char *name, const char *key,
                        const char *value) {
    struct design_file *design = reading->design;
    if (strcmp(key, "command") != 0) {
        error_set(reading->error, "%.100s: a [program] has its command alone", key);
        return fail(reading);
    }
    if (any_where(i, design->program_count, !strcmp(design->programs[i].name, name))) {
        error_set(reading->error, "[program %.100s] is there twice", name);
        return fail(reading);
    }
    if (design->program_count == DESIGN_FILE_PROGRAMS) {
        error_set(reading->error, "more than %d programs", DESIGN_FILE_PROGRAMS);
        return fail(reading);
    }
    struct design_file_program *program = &design->programs[design->program_count++];
    program->name = strdup(name);
    program->command = strdup(value);
    return program->name && program->command ? 1 : no_memory(reading);
}

static int take_sweep(struct reading *reading, const char *key, const char *value) {
    char **at = !strcmp(key, "machine") ? &reading->design->machines
                : !strcmp(key, "cost")  ? &reading->design->cost
                                        : NULL;
    if (!at || *at) {
        error_set(reading->error, at ? "%.100s is there twice" : "%.100s: one of machine, cost",
                  key);
        return fail(reading);
    }
    *at = strdup(value);
    return *at ? 1 : no_memory(reading);
}

static int take_setting(struct reading *reading, const char *key, const char *value) {
    struct design_file *design = reading->design;
    if (design->setting_count == DESIGN_FILE_SETTINGS) {
        error_set(reading->error, "more than %d keys", DESIGN_FILE_SETTINGS);
        return fail(reading);
    }
    char **at = &design->settings[design->setting_count];
    if (asprintf(at, "%s=%s", key, value) < 0) {
        *at = NULL;
        return no_memory(reading);
    }
    design->setting_count++;
    return 1;
}

static int handle_key(void *context, const char *section, const char *key, const char *value) {
    static const char PROGRAM[] = "program ";
    struct reading *reading = context;
    if (!*value) {
        error_set(reading->error, "%.100s is empty", key);
        return fail(reading);
    }
    if (!strncmp(section, PROGRAM, sizeof PROGRAM - 1)) {
        const char *name = section + sizeof PROGRAM - 1;
        name += strspn(name, " \t");
        if (*name && value[strspn(value, " ")])
            return take_program(reading, name, key, value);
    }
    if (!strcmp(section, "sweep"))
        return take_sweep(reading, key, value);
    if (!strcmp(section, "set"))
        return take_setting(reading, key, value);
    error_set(reading->error, "[%.100s]: one of [program NAME], [sweep], [set]", section);
    return fail(reading);
}

static char *next_line(char *line, int size, void *context) {
    struct reading *reading = context;
    reading->line++;
    if (!fgets(line, size, reading->file))
        return NULL;
    if (strlen(line) + 1 == (size_t)size && line[size - 2] != '\n') {
        error_set(reading->error, "longer than %d bytes", size - 2);
        reading->failed = true;
        return NULL;
    }
    return line;
}

bool design_file_read(struct design_file *design, const char *path, struct error *error) {
    struct reading reading = {.design = design, .error = error, .file = fopen(path, "re")};
    *design = (struct design_file){0};
    if (!reading.file)
        return error_errno(error, "%.200s", path);
    const int line = ini_parse_stream(next_line, &reading, handle_key, &reading);
    const bool unread = ferror(reading.file);
    const int number = errno;
    fclose(reading.file);
    errno = number;
    if (unread)
        return error_errno(error, "%.200s", path);
    if (reading.failed)
        return error_prefix(error, "%.200s:%d", path, line > 0 ? line : reading.line);
    if (line)
        return error_set(error, "%.200s:%d: neither [section], key = value nor ; comment", path,
                         line > 0 ? line : reading.line);
    return true;
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
