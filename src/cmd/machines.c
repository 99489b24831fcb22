/* culprit machines: list, show and check machine descriptions. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/verb.h"
#include "machine/machine.h"
#include "report/machine_json.h"
#include "report/machine_list.h"
#include "util/output.h"

enum action { ACTION_NONE, ACTION_LIST, ACTION_SHOW, ACTION_CHECK };

struct job {
    struct verb_run verb;
    enum action action;
    const char *machine;
};

#define REQUEST struct job
static const struct option_row OPTIONS[] = {FLAG("json", verb.output.json, "JSON in place of text"),
                                            {0}};

/* Who gives the name of a machine alone wants to see it. */
static void refuse(struct argp_state *state, const char *value) {
    char path[PATH_MAX];
    struct error error = {0};
    if (!machine_is_path(value) && machine_find(value, path, sizeof path, &error))
        options_fail(state, "%s: did you mean 'culprit machines show %s'?", value, value);
    options_fail(state, "%s: one of list, show NAME, check FILE", value);
}

static bool take_argument(struct argp_state *state, void *given, char *value) {
    struct job *job = given;
    if (job->action == ACTION_NONE) {
        job->action = !strcmp(value, "list")    ? ACTION_LIST
                      : !strcmp(value, "show")  ? ACTION_SHOW
                      : !strcmp(value, "check") ? ACTION_CHECK
                                                : ACTION_NONE;
        if (job->action == ACTION_NONE)
            refuse(state, value);
    } else if (job->action != ACTION_LIST && !job->machine) {
        job->machine = value;
    } else {
        options_fail(state, "%s: one argument too many", value);
    }
    return true;
}

static void check_request(struct argp_state *state, void *given) {
    struct job *job = given;
    if (job->action == ACTION_NONE)
        job->action = ACTION_LIST;
    if (job->action != ACTION_LIST && !job->machine)
        options_fail(state, "which machine? (a name of 'culprit machines', or a file)");
}

static const struct command_line LINE = {
    .own = {.options = OPTIONS, .argument = take_argument, .end = check_request},
    .arguments = "[list]\nshow NAME\ncheck FILE",
    .help =
        "Lists the machines that culprit simulates, shows one in full, or checks a description."
        "\vExample:\n  culprit machines show zen4 > mine.ini && culprit machines check mine.ini\n\n"
        "A description may begin with 'base = NAME' and give only what differs."};

static bool list(const struct job *job, struct error *error) {
    const bool good = machine_list_print(job->verb.output.json, print_error, stdout, error);
    return output_flush("cannot write the machines", error) && good;
}

static bool checked(const struct job *job, const struct machine *machine, struct error *error) {
    if (job->verb.output.json)
        return machine_checked_json(job->machine, machine, stdout, error);
    printf("%s: good (machine %s", job->machine, machine->name);
    if (machine->form_count)
        printf(", %u form%s of %s", machine->form_count, machine->form_count == 1 ? "" : "s",
               machine->forms_file);
    puts(")");
    return true;
}

static bool show(struct job *job, struct error *error) {
    struct machine machine;
    char path[4096];
    const char *name = job->machine;
    if (job->action == ACTION_CHECK && !strchr(name, '/') && strchr(name, '.') &&
        snprintf(path, sizeof path, "./%s", name) < (int)sizeof path)
        name = path;
    if (!machine_load(name, &machine, error))
        return false;
    if (job->action == ACTION_CHECK)
        return checked(job, &machine, error);
    if (job->verb.output.json)
        return machine_json(&machine, stdout, error);
    machine_print(&machine, stdout);
    return true;
}

static bool act(void *verb, struct error *error) {
    struct job *job = verb;
    return job->action == ACTION_LIST
               ? list(job, error)
               : show(job, error) && output_flush("cannot write the machines", error);
}

const struct verb verb_machines = {.line = &LINE, .size = sizeof(struct job), .report = act};
