/* Works on the lines of machine_print(), which have every key of the table in machine.def. */
#include "calibrate/machine_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
    char *all = print(machine), *rest = all, *next;
    struct line line = {0};
    bool found = false;
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
    if (finding->word)
        snprintf(text, MACHINE_VALUE, "%s", finding->word);
    else
        snprintf(text, MACHINE_VALUE, "%.0f", fmax(round(finding->value), 1));
}

static const struct finding *finding_of(const struct calibration *calibration, const char *key) {
    for (size_t i = calibration->count; i-- > 0;)
        if (calibration->findings[i].key && !strcmp(calibration->findings[i].key, key))
            return &calibration->findings[i];
    return NULL;
}

/* What was measured; of what cannot be, the base's. */
static struct machine merge(const struct calibration *calibration, const struct machine *base,
                            const char *description, const char *processor) {
    struct machine machine = *base;
    for (size_t i = 0; i < calibration->count; i++) {
        const struct finding *finding = &calibration->findings[i];
        char value[MACHINE_VALUE], assignment[MACHINE_VALUE + 64];
        struct machine changed = machine;
        struct error error;
        if (!finding->key || finding->state != FINDING_MEASURED)
            continue;
        finding_value(finding, value);
        snprintf(assignment, sizeof assignment, "%s=%s", finding->key, value);
        if (machine_set(&changed, assignment, &error) && machine_check(&changed, &error))
            machine = changed;
    }
    snprintf(machine.name, sizeof machine.name, "host");
    snprintf(machine.description, sizeof machine.description, "%.150s", description);
    snprintf(machine.processor, sizeof machine.processor, "%s", processor);
    return machine;
}

static void write_key(const struct calibration *calibration, const struct machine *base,
                      const struct line *line, FILE *file) {
    const struct finding *finding = finding_of(calibration, line->key);
    char measured[MACHINE_VALUE] = "";
    const char *name = strrchr(line->key, '.');
    fprintf(file, "%-20s = %-10s ; ", name ? name + 1 : line->key, line->value);
    if (finding && finding->state == FINDING_MEASURED)
        finding_value(finding, measured);
    if (finding && !strcmp(measured, line->value) && finding->spread > 0)
        fprintf(file, "measured: %.4g, +- %.2g\n", finding->value, finding->spread);
    else if (finding && !strcmp(measured, line->value))
        fprintf(file, "measured\n");
    else if (finding)
        fprintf(file, "not measurable here; published (%s)\n", base->name);
    else
        fprintf(file, "published (%s)\n", base->name);
}

bool calibration_write(const struct calibration *calibration, const struct machine *base,
                       const char *description, const char *processor, FILE *file,
                       struct error *error) {
    const struct machine machine = merge(calibration, base, description, processor);
    char *all = print(&machine), *rest = all, *next;
    struct line line = {0};
    if (!all)
        return error_set(error, "out of memory for a machine file");
    while (rest && (next = strsep(&rest, "\n"))) {
        read_line(next, &line);
        if (line.is_key && (!strcmp(line.key, "description") || !strcmp(line.key, "processor")))
            fprintf(file, "%s\n", next);
        else if (line.is_key)
            write_key(calibration, base, &line, file);
        else if (rest)
            fprintf(file, "%s\n", next);
    }
    free(all);
    return true;
}
