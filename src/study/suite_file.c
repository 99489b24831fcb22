#include "study/suite_file.h"

#include <assert.h>
#include <errno.h>
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"

struct reading {
    struct suite_file *suite;
    struct error *error;
    int line;
    FILE *file;
    bool failed; /* by an error of ours, of that line */
};

static int fail(struct reading *reading) {
    reading->failed = true;
    return 0;
}

static struct suite_entry *entry_of(struct reading *reading, const char *name) {
    struct suite_file *suite = reading->suite;
    assert(suite->entries || !suite->count);
    struct suite_entry *last = suite->count ? &suite->entries[suite->count - 1] : NULL;
    if (last && !strcmp(last->name, name))
        return last;
    for (size_t i = 0; i < suite->count; i++)
        if (!strcmp(suite->entries[i].name, name)) {
            error_set(reading->error, "[%.100s] is there twice", name);
            return NULL;
        }
    if (suite->count == SUITE_MOST) {
        error_set(reading->error, "more than %d pairs", SUITE_MOST);
        return NULL;
    }
    const struct suite_entry new = {.name = strdup(name)};
    if (!new.name || !array_push(suite->entries, suite->capacity, suite->count, new)) {
        free(new.name);
        error_set(reading->error, "out of memory");
        return NULL;
    }
    return &suite->entries[suite->count - 1];
}

static int handle_key(void *context, const char *section, const char *key, const char *value) {
    struct reading *reading = context;
    if (!*section) {
        error_set(reading->error, "%.100s belongs to no [pair]", key);
        return fail(reading);
    }
    struct suite_entry *entry = entry_of(reading, section);
    if (!entry)
        return fail(reading);
    char **at = !strcmp(key, "old")         ? &entry->old
                : !strcmp(key, "new")       ? &entry->new
                : !strcmp(key, "arguments") ? &entry->arguments
                                            : NULL;
    if (!at || *at || !*value) {
        error_set(reading->error,
                  !at   ? "%.100s: one of old, new, arguments"
                  : *at ? "%.100s is there twice"
                        : "%.100s is empty",
                  key);
        return fail(reading);
    }
    *at = strdup(value);
    if (!*at)
        error_set(reading->error, "out of memory");
    return *at ? 1 : fail(reading);
}

static char *next_line(char *line, int size, void *context) {
    struct reading *reading = context;
    reading->line++;
    return fgets(line, size, reading->file);
}

static bool check(const struct suite_file *suite, const char *path, struct error *error) {
    for (size_t i = 0; i < suite->count; i++) {
        const struct suite_entry *entry = &suite->entries[i];
        if (!entry->old || !entry->new)
            return error_set(error, "%.200s: [%.100s] has no %s", path, entry->name,
                             entry->old ? "new" : "old");
    }
    return suite->count || error_set(error, "%.200s: there is no [pair] in it", path);
}

bool suite_file_read(struct suite_file *suite, const char *path, struct error *error) {
    struct reading reading = {.suite = suite, .error = error, .file = fopen(path, "re")};
    *suite = (struct suite_file){0};
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
        return error_prefix(error, "%.200s:%d", path, line);
    if (line)
        return error_set(error, "%.200s:%d: neither [pair], key = value nor ; comment", path,
                         line > 0 ? line : reading.line);
    return check(suite, path, error);
}

void suite_file_free(struct suite_file *suite) {
    for (size_t i = 0; i < suite->count; i++) {
        free(suite->entries[i].name);
        free(suite->entries[i].old);
        free(suite->entries[i].new);
        free(suite->entries[i].arguments);
    }
    free(suite->entries);
}
