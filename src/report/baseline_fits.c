#include "report/baseline_fits.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "machine/identity.h"
#include "simulate/model.h"
#include "util/text.h"

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

bool baseline_entry_is_of(const struct baseline_entry *entry, const char *path,
                          char *const *command, uint32_t layout_count, struct error *error) {
    const uint32_t had = entry->layout_count ? entry->layout_count : 1;
    if (!baseline_same_arguments(entry, command))
        return error_set(error,
                         "%s: '%s' is of a command with other arguments: give this one another "
                         "--name, or write it anew with --update",
                         path, entry->name);
    return layout_count <= entry->layout_count ||
           error_set(error,
                     "%s: '%s' has %" PRIu32
                     " layout%s: write it anew with --update --layouts %" PRIu32,
                     path, entry->name, had, text_plural(had), layout_count);
}

bool baseline_maker_of(struct baseline_maker *maker, const char *version,
                       const struct machine *machine, struct error *error) {
    uint64_t identity;
    if (!machine_identity(machine, &identity, error))
        return false;
    snprintf(maker->machine, sizeof maker->machine, "%s %016" PRIx64, machine->name, identity);
    snprintf(maker->culprit, sizeof maker->culprit, "%s model %s", version, simulation_model());
    return true;
}
