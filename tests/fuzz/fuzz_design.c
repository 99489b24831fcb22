/* Any bytes as a file of a sweep. What is read has names of its own; its settings make axes of
 * values that differ, and its formula has a value or an error. */
#include <math.h>
#include <string.h>

#include "input.h"
#include "study/design.h"
#include "study/design_file.h"
#include "util/arithmetic.h"

static bool some_value(void *context, const char *name, double *value, struct error *error) {
    (void)context;
    (void)error;
    require(*name && strlen(name) < 64);
    *value = (double)(*name & 7);
    return true;
}

static void use(const struct design_file *file) {
    struct error error = {0};
    struct design design = {0};
    double cost;
    for (size_t i = 0; i < file->program_count; i++) {
        require(*file->programs[i].name && *file->programs[i].command);
        for (size_t k = 0; k < i; k++)
            require(strcmp(file->programs[k].name, file->programs[i].name) != 0);
    }
    for (size_t i = 0; i < file->setting_count; i++)
        if (!design_add_setting(&design, file->settings[i], &error))
            require(error.message[0]);
    if (file->machines && !design_add_machines(&design, file->machines, &error))
        require(error.message[0]);
    for (size_t i = 0; i < design.axis_count; i++)
        for (size_t k = 0; k < design.axes[i].count; k++)
            require(*design.axes[i].values[k] && !strchr(design.axes[i].values[k], ','));
    if (file->cost)
        require(arithmetic_value(file->cost, some_value, NULL, &cost, &error) ? isfinite(cost)
                                                                              : error.message[0]);
    design_free(&design);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct error error = {0};
    static struct design_file design;
    struct memory_file file = memory_file(data, size);
    if (design_file_read(&design, file.path, &error))
        use(&design);
    else
        require(error.message[0] && !strchr(error.message, '\n'));
    design_file_free(&design);
    close(file.fd);
    return 0;
}
