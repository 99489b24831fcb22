/* The programs of a design: those of a file, with the machines and settings that it names, or one
 * command or trace. */
#pragma once

#include "study/design.h"
#include "study/design_file.h"

/* What the design's programs refer to. */
struct design_input {
    struct design_file file;
    struct design_program programs[DESIGN_MOST_PROGRAMS];
    char **words[DESIGN_MOST_PROGRAMS]; /* of commands of the file, which is cut into them */
    char *name;                         /* of the one program */
};

/* Each program has what `options` say, but the command or trace. Machines and the cost that the
 * design has already stay; settings are added. False, with an error that names the file;
 * design_input_free() either way, when the design is not used any more. */
bool design_input_file(struct design_input *input, struct design *design, const char *path,
                       const struct input_options *options, struct error *error);
/* The command or trace of `options`, whose words are its name. */
bool design_input_command(struct design_input *input, struct design *design,
                          const struct input_options *options, struct error *error);
void design_input_free(struct design_input *input);
