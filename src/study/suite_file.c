#include "study/suite_file.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "study/ini_file.h"
#include "util/array.h"

static struct suite_entry *entry_of(struct suite_file *suite, const char *name,
                                    struct error *error) {
    assert(suite->entries || !suite->count);
    struct suite_entry *last = suite->count ? &suite->entries[suite->count - 1] : NULL;
    if (last && !strcmp(last->name, name))
        return last;
    for (size_t i = 0; i < suite->count; i++)
        if (!strcmp(suite->entries[i].name, name))
            return error_null(error, "[%.100s] is there twice", name);
    if (suite->count == SUITE_MOST)
        return error_null(error, "more than %d pairs", SUITE_MOST);
    const struct suite_entry new = {.name = strdup(name)};
    if (!new.name || !array_push(suite->entries, suite->capacity, suite->count, new)) {
        free(new.name);
        return error_null(error, "out of memory");
    }
    return &suite->entries[suite->count - 1];
}

static bool take(void *context, const char *section, const char *key, const char *value,
                 struct error *error) {
    if (!*section)
        return error_set(error, "%.100s belongs to no [pair]", key);
    struct suite_entry *entry = entry_of(context, section, error);
    if (!entry)
        return false;
    char **at = !strcmp(key, "old")         ? &entry->old
                : !strcmp(key, "new")       ? &entry->new
                : !strcmp(key, "arguments") ? &entry->arguments
                                            : NULL;
    if (!at || *at || !*value)
        return error_set(error,
                         !at   ? "%.100s: one of old, new, arguments"
                         : *at ? "%.100s is there twice"
                               : "%.100s is empty",
                         key);
    *at = strdup(value);
    return *at || error_set(error, "out of memory");
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
    const struct ini_file file = {.path = path, .section = "pair", .take = take, .context = suite};
    *suite = (struct suite_file){0};
    return ini_file_read(&file, error) && check(suite, path, error);
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
