#include "study/calibrated_files.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "calibrate/machine_file.h"

/* The table's name in the machine file. */
static const char *forms_name(const struct calibrated_files *files) {
    const char *slash = strrchr(files->forms_path, '/');
    return slash ? slash + 1 : files->forms_path;
}

static bool wants_forms(const struct calibrate_run *run) {
    for (uint32_t i = 0; i < run->part_count; i++)
        if (!strcmp(run->parts[i]->name, "forms"))
            return true;
    return false;
}

/* A pipe or a terminal has nothing beside it. */
static bool open_forms(struct calibrated_files *files, const struct calibrate_run *run,
                       const char *path, struct error *error) {
    struct stat existing;
    const char *end = strrchr(path, '.');
    const size_t length = end && !strcmp(end, ".ini") ? (size_t)(end - path) : strlen(path);
    if (!wants_forms(run) || !strcmp(path, "-") ||
        (!stat(path, &existing) && !S_ISREG(existing.st_mode)))
        return true;
    if (snprintf(files->forms_path, sizeof files->forms_path, "%.*s.forms", (int)length, path) >=
            (int)sizeof files->forms_path ||
        strlen(forms_name(files)) > 150 || strpbrk(forms_name(files), ";#\"\n\r"))
        return error_set(error,
                         "--output %.100s: a machine file cannot name a table of forms beside it; "
                         "choose a shorter name, without ; # or quotes",
                         path);
    return output_open(&files->forms, "--output", files->forms_path, NULL, error);
}

bool calibrated_files_open(struct calibrated_files *files, const struct calibrate_run *run,
                           const char *path, struct error *error) {
    return output_open(&files->machine, "--output", path, stdout, error) &&
           open_forms(files, run, path, error);
}

/* *forms: the table's name; NULL if nothing was measured that it could say. */
static bool write_forms(struct calibrated_files *files, const struct calibrate_run *run,
                        const char *measured, const char **forms, struct error *error) {
    const struct form_table *table = &run->calibration.forms;
    *forms = NULL;
    if (!files->forms.file || !form_table_says(table))
        return true;
    *forms = forms_name(files);
    form_table_write(table, run->published, measured,
                     files->forms.file); /* whether it failed, the end tells */
    return output_close(&files->forms, error);
}

bool calibrated_files_write(struct calibrated_files *files, const struct calibrate_run *run,
                            struct error *error) {
    const char *measured = run->simulated_machine ? run->published->name : run->processor.brand,
               *forms;
    char description[160], kind[PROCESSOR_KIND] = "";
    snprintf(description, sizeof description, "%.60s, %s, calibrated%s", measured,
             run->simulated_machine ? "simulated" : "this processor",
             run->partial ? " in part" : "");
    if (!run->simulated_machine)
        processor_kind(&run->processor, kind);
    return write_forms(files, run, measured, &forms, error) &&
           calibration_write(&run->calibration, run->published, description, kind, forms,
                             files->machine.file, error) &&
           output_close(&files->machine, error);
}

void calibrated_files_discard(struct calibrated_files *files) {
    output_discard(&files->machine);
    output_discard(&files->forms);
}
