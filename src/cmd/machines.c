/* culprit machines: list, show and check machine descriptions. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "cmd/cmd.h"
#include "cmd/machine_json.h"
#include "cmd/options.h"
#include "machine/machine.h"
#include "util/text.h"

enum { KEY_JSON = 1024 };
enum action { ACTION_NONE, ACTION_LIST, ACTION_SHOW, ACTION_CHECK };

struct request {
    enum action action;
    const char *machine;
    bool json;
};

static const struct argp_option OPTIONS[] = {
    {"json", KEY_JSON, NULL, 0, "JSON in place of text (list, show)", 0}, {0}};

static error_t parse(int key, char *value, struct argp_state *state) {
    struct request *request = state->input;
    switch (key) {
    case KEY_JSON:
        request->json = true;
        return 0;
    case ARGP_KEY_ARG:
        if (request->action == ACTION_NONE) {
            request->action = !strcmp(value, "list")    ? ACTION_LIST
                              : !strcmp(value, "show")  ? ACTION_SHOW
                              : !strcmp(value, "check") ? ACTION_CHECK
                                                        : ACTION_NONE;
            if (request->action == ACTION_NONE)
                options_fail(state, "%s: one of list, show NAME, check FILE", value);
        } else if (request->action != ACTION_LIST && !request->machine) {
            request->machine = value;
        } else {
            options_fail(state, "%s: one argument too many", value);
        }
        return 0;
    case ARGP_KEY_END:
        if (request->action == ACTION_NONE)
            request->action = ACTION_LIST;
        if (request->action != ACTION_LIST && !request->machine)
            options_fail(state, "which machine? (a name of 'culprit machines', or a file)");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp ARGP = {
    .options = OPTIONS,
    .parser = parse,
    .args_doc = "[list]\nshow NAME\ncheck FILE",
    .doc =
        "Lists the machines that culprit simulates, shows one in full, or checks a description."
        "\vExample:\n  culprit machines show zen4 > mine.ini && culprit machines check mine.ini\n\n"
        "A description may begin with 'base = NAME' and give only what differs."};

static int fail(const struct error *error) {
    print_error(error);
    return STATUS_FAILED;
}

static int flush_output(void) {
    struct error error = {0};
    if (fflush(stdout) == 0 && !ferror(stdout))
        return 0;
    error_errno(&error, "cannot write the machines");
    return fail(&error);
}

static void print_row(const char *name, const struct machine *machine) {
    char fitted[512];
    fputs(text_fit(fitted, sizeof fitted, name, 16, TEXT_LEFT), stdout);
    printf(" %-8s %4s GHz  ", machine->isa, text_quantity(machine->clock_ghz).s);
    unsigned width = text_columns(machine->description);
    puts(text_fit(fitted, sizeof fitted, machine->description, width < 64 ? width : 64, TEXT_LEFT));
}

static int list(bool json) {
    struct error error = {0};
    char **names = machine_list(&error);
    if (!names)
        return fail(&error);
    json_t *array = json_array();
    if (!json)
        printf("%-16s %-8s %8s  %s\n", "name", "programs", "clock", "description");
    int status = 0;
    for (char **name = names; *name; name++) {
        struct machine machine;
        if (!machine_load(*name, &machine, &error))
            status = fail(&error);
        else if (json)
            json_array_append_new(array, json_pack("{s:s, s:s, s:f, s:s}", "name", *name, "isa",
                                                   machine.isa, "clock_ghz", machine.clock_ghz,
                                                   "description", machine.description));
        else
            print_row(*name, &machine);
        free(*name);
    }
    free(names);
    if (json) {
        json_t *object = json_pack("{s:o}", "machines", array);
        json_dumpf(object, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
        putchar('\n');
        json_decref(object);
    } else {
        json_decref(array);
        puts("\nnext: culprit machines show zen4");
    }
    int flushed = flush_output();
    return status ? status : flushed;
}

int cmd_machines(int argc, char **argv) {
    struct request request = {0};
    options_parse(&ARGP, argc, argv, &request);
    if (request.action == ACTION_LIST)
        return list(request.json);
    struct error error = {0};
    struct machine machine;
    char path[4096];
    const char *name = request.machine;
    if (request.action == ACTION_CHECK && !strchr(name, '/') && strchr(name, '.') &&
        snprintf(path, sizeof path, "./%s", name) < (int)sizeof path)
        name = path;
    if (!machine_load(name, &machine, &error))
        return fail(&error);
    if (request.action == ACTION_CHECK) {
        printf("%s: good (machine %s)\n", request.machine, machine.name);
    } else if (!request.json) {
        machine_print(&machine, stdout);
    } else if (!machine_json(&machine, stdout, &error)) {
        return fail(&error);
    }
    return flush_output();
}
