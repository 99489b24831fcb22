#include "report/baseline_fits.h"

#include <string.h>

static bool refuse(const struct baseline_entry *entry, const char *path, const char *what,
                   const char *then, const char *now, struct error *error) {
    return error_set(error,
                     "%s: '%s' is of %s %s, this is %s, whose cycles may be others: write it anew "
                     "with --update",
                     path, entry->name, what, then, now);
}

static bool same_texts(const char *const *one, const char *const *other) {
    while (*one && *other && !strcmp(*one, *other)) {
        one++;
        other++;
    }
    return !*one && !*other;
}

bool baseline_entry_fits(const struct baseline_entry *entry, const char *path,
                         const struct baseline_setting *now, struct error *error) {
    const struct baseline_setting *then = &entry->setting;
    if (strcmp(then->culprit, now->culprit) != 0)
        return refuse(entry, path, "culprit", then->culprit, now->culprit, error);
    if (strcmp(then->machine, now->machine) != 0)
        return refuse(entry, path, "machine", then->machine, now->machine, error);
    if (!same_texts(then->options, now->options))
        return error_set(error,
                         "%s: '%s' is of a run with other options (%s%s): give this one another "
                         "--name, or write it anew with --update",
                         path, entry->name, then->options[0] ? then->options[0] : "none",
                         then->options[0] && then->options[1] ? " ..." : "");
    return true;
}

bool baseline_same_arguments(const struct baseline_entry *entry, char *const *command) {
    return same_texts(entry->words + 1, (const char *const *)command + 1);
}
