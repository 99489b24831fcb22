#include "study/design_input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/trace_name.h"
#include "util/quoted_command.h"
#include "util/text.h"

static bool take_program(struct design_input *input, size_t number,
                         const struct input_options *options, struct error *error) {
    const struct design_file_program *from = &input->file.programs[number];
    struct design_program *program = &input->programs[number];
    *program = (struct design_program){.name = from->name, .input = *options};
    if (trace_is_named(from->command) && !strchr(from->command, ' ')) {
        program->input.trace = from->command;
        return true;
    }
    program->input.command = input->words[number] = text_words(from->command, 0);
    return program->input.command || error_set(error, "out of memory for a command");
}

bool design_input_file(struct design_input *input, struct design *design, const char *path,
                       const struct input_options *options, struct error *error) {
    struct design_file *file = &input->file;
    if (!design_file_read(file, path, error))
        return false;
    if (!file->program_count)
        return error_set(error, "%s: there is no [program NAME] in it", path);
    if (file->machines && !design->machines.count &&
        !design_add_machines(design, file->machines, error))
        return error_prefix(error, "%s: machine", path);
    for (size_t i = 0; i < file->setting_count; i++)
        if (!design_add_setting(design, file->settings[i], error))
            return error_prefix(error, "%s: [set]", path);
    if (!design->cost)
        design->cost = file->cost;
    design->programs = input->programs;
    design->program_count = file->program_count;
    for (size_t i = 0; i < file->program_count; i++)
        if (!take_program(input, i, options, error))
            return false;
    return true;
}

bool design_input_command(struct design_input *input, struct design *design,
                          const struct input_options *options, struct error *error) {
    input->name = options->command ? quoted_command(options->command) : strdup(options->trace);
    input->programs[0] = (struct design_program){.name = input->name, .input = *options};
    design->programs = input->programs;
    design->program_count = 1;
    return input->name || error_set(error, "out of memory for a command");
}

void design_input_free(struct design_input *input) {
    design_file_free(&input->file);
    for (size_t i = 0; i < DESIGN_MOST_PROGRAMS; i++)
        free(input->words[i]);
    free(input->name);
}
