/* Works on the lines of machine_print(), which have every key of the table in machine.def. */
#include "calibrate/machine_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/figure.h"

/* A line of a printed machine: "[section]", or "key = value ; meaning". */
struct line {
    char section[64], key[160], value[MACHINE_VALUE];
    bool is_key;
};

/* `line`: the section goes on from line to line. */
static void read_line(const char *text, struct line *line) {
    char name[64];
    line->is_key = false;
    if (sscanf(text, "[%63[^]]]", line->section) == 1)
        return;
    if (sscanf(text, "%63[a-z0-9_] = %255[^;\n]", name, line->value) != 2)
        return;
    for (size_t end = strlen(line->value); end && line->value[end - 1] == ' ';)
        line->value[--end] = '\0';
    snprintf(line->key, sizeof line->key, "%s%s%s", line->section, *line->section ? "." : "", name);
    line->is_key = true;
}

/* The machine as text; free it. */
static char *print(const struct machine *machine) {
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    if (!file)
        return NULL;
    machine_print(machine, file);
    fclose(file);
    return text;
}

bool machine_value(const struct machine *machine, const char *key, char text[MACHINE_VALUE]) {
    char *all, *rest, *next;
    struct line line = {0};
    double value;
    bool found = false;
    if (figure_key(machine, key)) {
        snprintf(text, MACHINE_VALUE, "%.4g", figure_value(machine, key, &value) ? value : NAN);
        return isfinite(atof(text));
    }
    all = rest = print(machine);
    while (!found && rest && (next = strsep(&rest, "\n"))) {
        read_line(next, &line);
        found = line.is_key && !strcmp(line.key, key);
    }
    if (found)
        memcpy(text, line.value, MACHINE_VALUE);
    free(all);
    return found;
}

void finding_value(const struct finding *finding, char text[MACHINE_VALUE]) {
    double whole = fmax(round(finding->value), 0);
    const char *suffix = "";
    if (finding->word) {
        snprintf(text, MACHINE_VALUE, "%s", finding->word);
        return;
    }
    if (!strcmp(finding->unit, "bytes"))
        for (const char *next = "KMG"; *next && fmod(whole, 1024) == 0; next++) {
            whole /= 1024;
            suffix = next;
        }
    snprintf(text, MACHINE_VALUE, "%.0f%.1s", whole, suffix);
}

/* The key of machine files that a finding fills; NULL: none. */
static const char *key_of(const struct machine *machine, const struct finding *finding) {
    const char *key = finding->key ? figure_key(machine, finding->key) : NULL;
    return key ? key : finding->key;
}

/* Puts a finding into a machine, which may not be consistent then. False: it has no such key, or
 * cannot have that value. */
static bool assign(struct machine *machine, const struct finding *finding) {
    char value[MACHINE_VALUE], assignment[MACHINE_VALUE + 64];
    struct error error;
    double part;
    finding_value(finding, value);
    if (figure_key(machine, finding->key)) {
        if (!figure_key_value(machine, finding->key, finding->value, &part))
            return false;
        snprintf(value, sizeof value, "%.6g", part);
    }
    snprintf(assignment, sizeof assignment, "%s=%s", key_of(machine, finding), value);
    return machine_set(machine, assignment, &error);
}

/* Whether two keys, or figures, are of the same section: size and ways of a cache, say. */
static bool same_section(const char *one, const char *other) {
    const size_t length = strcspn(one, ".");
    return length == strcspn(other, ".") && !strncmp(one, other, length);
}

/* Findings of `from` on that are of its section, or it alone, in place of the machine's figures;
 * nothing if the machine would not be consistent. */
static void take(const struct calibration *calibration, size_t from, bool all,
                 struct machine *machine, bool *taken) {
    const struct finding *first = &calibration->findings[from];
    struct machine changed = *machine;
    struct error error;
    bool good[2] = {true, true};
    for (size_t i = from; i < calibration->count; i++) {
        const struct finding *finding = &calibration->findings[i];
        if (i == from || (all && finding->key && finding->state == FINDING_MEASURED &&
                          same_section(first->key, finding->key)))
            good[i > from] &= assign(&changed, finding);
    }
    if (!good[0] || !good[1] || !machine_check(&changed, &error))
        return;
    *machine = changed;
    for (size_t i = from; i < calibration->count; i++) {
        const struct finding *finding = &calibration->findings[i];
        taken[i] |= i == from || (all && finding->key && finding->state == FINDING_MEASURED &&
                                  same_section(first->key, finding->key));
    }
}

/* What was measured; of what cannot be, the base's. Size and ways of a cache are good together
 * though one of them with the base's other may not be. `taken`: of each finding, whether it is in
 * the machine. */
static struct machine merge(const struct calibration *calibration, const struct machine *base,
                            const char *description, const char *processor, bool *taken) {
    struct machine machine = *base;
    for (unsigned all = 2; all-- > 0;)
        for (size_t i = 0; i < calibration->count; i++) {
            const struct finding *finding = &calibration->findings[i];
            if (!taken[i] && finding->key && finding->state == FINDING_MEASURED)
                take(calibration, i, all, &machine, taken);
        }
    snprintf(machine.name, sizeof machine.name, "host");
    snprintf(machine.description, sizeof machine.description, "%.150s", description);
    snprintf(machine.processor, sizeof machine.processor, "%s", processor);
    return machine;
}

static void write_key(const struct calibration *calibration, const struct machine *base,
                      const bool *taken, const struct line *line, FILE *file) {
    const struct finding *finding = NULL;
    const char *name = strrchr(line->key, '.');
    bool measured = false;
    for (size_t i = calibration->count; !measured && i-- > 0;) {
        const char *key = key_of(base, &calibration->findings[i]);
        if (key && !strcmp(key, line->key)) {
            finding = &calibration->findings[i];
            measured = taken[i];
        }
    }
    fprintf(file, "%-20s = %-10s ; ", name ? name + 1 : line->key, line->value);
    if (!measured && finding && finding->state == FINDING_MEASURED) {
        char value[MACHINE_VALUE];
        const bool other = strcmp(finding->key, line->key) != 0;
        finding_value(finding, value);
        fprintf(file, "measured%s%s %s, which other figures here do not allow; published (%s)\n",
                other ? ": " : "", other ? finding->key : "", value, base->name);
        return;
    }
    if (!measured) {
        fprintf(file, "%spublished (%s)\n", finding ? "not measurable here; " : "", base->name);
        return;
    }
    fprintf(file, "measured");
    if (strcmp(finding->key, line->key) != 0)
        fprintf(file, finding->value < 10000 ? ": %s %.4g" : ": %s %.0f", finding->key,
                finding->value);
    else if (finding->spread > 0)
        fprintf(file, finding->value < 10000 ? ": %.6g" : ": %.0f", finding->value);
    if (finding->spread > 0)
        fprintf(file, finding->spread < 100 ? ", +- %.2g" : ", +- %.0f", finding->spread);
    fprintf(file, "\n");
}

bool calibration_write(const struct calibration *calibration, const struct machine *base,
                       const char *description, const char *processor, const char *forms,
                       FILE *file, struct error *error) {
    bool *taken = calloc(calibration->count + 1, sizeof *taken);
    if (!taken)
        return error_set(error, "out of memory for a machine file");
    struct machine machine = merge(calibration, base, description, processor, taken);
    if (forms)
        snprintf(machine.forms_file, sizeof machine.forms_file, "%s", forms);
    char *all = print(&machine), *rest = all, *next;
    struct line line = {0};
    while (rest && (next = strsep(&rest, "\n"))) {
        read_line(next, &line);
        if (line.is_key && !strcmp(line.key, "checked")) /* the published one was */
            continue;
        if (line.is_key && (!strcmp(line.key, "name") || !strcmp(line.key, "description") ||
                            !strcmp(line.key, "processor")))
            fprintf(file, "%s\n", next);
        else if (line.is_key && forms && !strcmp(line.key, "forms"))
            fprintf(file, "%-20s = %-10s ; measured\n", line.key, forms);
        else if (line.is_key)
            write_key(calibration, base, taken, &line, file);
        else if (rest)
            fprintf(file, "%s\n", next);
    }
    free(taken);
    free(all);
    return all || error_set(error, "out of memory for a machine file");
}
