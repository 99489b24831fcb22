/* A script says its interpreter in its first line; an interpreter is known by the name of its
 * file. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "program/program.h"
#include "program/python_layout.h"
#include "study/input.h"
#include "trace/trace.h"
#include "util/command_path.h"
#include "util/quoted_command.h"

enum { PATH_BYTES = 4096 };

static bool is_python(const char *path) {
    struct executable executable;
    struct error ignored;
    char *real = realpath(path, NULL);
    const bool named = python_may_be_in(real ? real : path);
    free(real);
    return named || (executable_identify(path, &executable, &ignored) &&
                     executable.kind == EXECUTABLE_SCRIPT &&
                     (python_may_be_in(executable.interpreter) ||
                      strstr(executable.interpreter_argument, "python")));
}

static bool runs_python(const char *name) {
    char path[PATH_BYTES];
    return strchr(name, '/') ? is_python(name)
                             : !command_find(name, path, sizeof path) && is_python(path);
}

/* Of a trace it is the first word of its command. */
static bool trace_runs_python(const char *path) {
    struct stat status;
    struct error ignored;
    if (stat(path, &status) || !S_ISREG(status.st_mode))
        return false;
    struct trace *trace = trace_open(path, &ignored);
    char *program = trace ? quoted_command_program(trace_command(trace)) : NULL;
    trace_close(trace);
    const bool runs = program && runs_python(program);
    free(program);
    return runs;
}

bool input_runs_python(const struct input_options *input) {
    return input->command ? runs_python(input->command[0])
                          : input->trace && trace_runs_python(input->trace);
}
