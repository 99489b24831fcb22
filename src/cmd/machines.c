/* culprit machines: list, show and check machine descriptions. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "cmd/cmd.h"
#include "cmd/options.h"
#include "machine/machine.h"
#include "report/machine_json.h"
#include "report/table.h"
#include "util/text.h"

enum action { ACTION_NONE, ACTION_LIST, ACTION_SHOW, ACTION_CHECK };

struct request {
    enum action action;
    const char *machine;
    bool json;
};

#define REQUEST struct request
static const struct option_row OPTIONS[] = {
    FLAG("json", json, "JSON in place of text (list, show)"), {0}};

static bool take_argument(struct argp_state *state, void *given, char *value) {
    struct request *request = given;
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
    return true;
}

static void check_request(struct argp_state *state, void *given) {
    struct request *request = given;
    if (request->action == ACTION_NONE)
        request->action = ACTION_LIST;
    if (request->action != ACTION_LIST && !request->machine)
        options_fail(state, "which machine? (a name of 'culprit machines', or a file)");
}

static const struct command_line LINE = {
    .own = {.options = OPTIONS, .argument = take_argument, .end = check_request},
    .arguments = "[list]\nshow NAME\ncheck FILE",
    .help =
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

static struct table *machine_table(const struct page *page) {
    static const struct table_column COLUMNS[] = {
        {.heading = "name", .kind = TABLE_WORD},
        {.heading = "programs", .kind = TABLE_WORD, .gap = 2},
        {.heading = "clock", .kind = TABLE_FIGURE, .gap = 2},
        {.heading = "description", .kind = TABLE_TEXT, .gap = 2, .least = 24}};
    return table_with(page, COLUMNS, sizeof COLUMNS / sizeof *COLUMNS);
}

static void add_row(struct table *table, const char *name, const struct machine *machine) {
    table_cell(table, name);
    table_cell(table, machine->isa);
    table_figure(table, "%s GHz", text_quantity(machine->clock_ghz).s);
    table_cell(table, machine->description);
}

static int list(bool json) {
    struct error error = {0};
    char **names = machine_list(&error);
    if (!names)
        return fail(&error);
    json_t *array = json_array();
    const struct page page = page_of(stdout);
    struct table *table = machine_table(&page);
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
            add_row(table, *name, &machine);
        free(*name);
    }
    free(names);
    if (!json)
        table_print(table);
    table_free(table);
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
    free(options_parse(&LINE, argc, argv, &request));
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
