#include "study/input.h"

#include <inttypes.h>
#include <string.h>

#include "util/file_name.h"

struct capture_options input_conditions(const struct input_options *input) {
    return (struct capture_options){.command = input->command,
                                    .follow = input->follow,
                                    .repeatable = input->repeatable,
                                    .seed = input->seed,
                                    .fixed = input->fixed,
                                    .layout = input->layout,
                                    .variables = input->variables,
                                    .variable_count = input->variable_count};
}

struct capture_options input_capture(struct watch *watch, const struct input_options *input) {
    struct capture_options capture = input_conditions(input);
    capture.addresses = true;
    capture.skip = input->skip;
    capture.limit = input->limit;
    capture.from_symbol = input->from;
    capture.thread = input->thread;
    capture.seconds = input->seconds;
    capture.objects = input->objects;
    capture.kept = &watch->kept;
    memcpy(capture.descriptors, input->descriptors, sizeof capture.descriptors);
    watch_limit(watch, &capture, input->stop);
    return capture;
}

bool input_choose_machine(const struct input_options *input, const struct machine_options *options,
                          struct machine_choice *choice, struct error *error) {
    enum isa isa;
    return machine_choice_load(choice, options, error) &&
           (!input->command || !trace_command_isa(input->command, &isa) ||
            machine_choice_of(choice, isa, error));
}

struct selection input_selection(const struct input_options *input) {
    return (struct selection){.skip = input->skip,
                              .limit = input->limit,
                              .from_symbol = input->from,
                              .thread = input->thread};
}

bool input_nothing(const struct watch *watch, const struct input_options *input,
                   const struct trace *trace, const char *done, struct error *error) {
    if (watch->signal)
        return error_set(error, "interrupted before the first instruction was %s", done);
    if (input->from)
        return error_set(error,
                         "--from %s: the function was never entered%s (see its name with nm)",
                         input->from, input->skip ? ", or the run ended within --skip" : "");
    if (input->thread >= 0)
        return error_set(error, "no instruction was %s: there was no thread %d%s", done,
                         input->thread, input->skip ? ", or it ended within --skip" : "");
    if (input->skip)
        return error_set(error, "no instruction was %s: the run ended within --skip %" PRIu64, done,
                         input->skip);
    return error_set(error, "no instruction was %s: %s", done,
                     trace && trace_note_count(trace) ? trace_note(trace, 0)
                     : input->command                 ? "the command executed none"
                                                      : "the trace holds none");
}

bool input_default_path(const struct input_options *input, const char *ending, const char *what,
                        char path[NAME_MAX + 1], struct error *error) {
    const char *from = input->trace ? input->trace : input->command[0];
    const bool named = !input->trace || strcmp(from, "-") != 0;
    return (named && file_name_from(from, input->trace ? ".ctrace" : NULL, ending, path)) ||
           error_set(error, "%s: makes no file name for %s (give one with -o)", from, what);
}
