/* culprit machines: list, show and check machine descriptions. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "cmd/cmd.h"
#include "cmd/verb.h"
#include "machine/default.h"
#include "machine/machine.h"
#include "report/json_values.h"
#include "report/machine_json.h"
#include "report/table.h"
#include "util/text.h"

enum action { ACTION_NONE, ACTION_LIST, ACTION_SHOW, ACTION_CHECK };

struct job {
    struct verb_run verb;
    enum action action;
    const char *machine;
};

#define REQUEST struct job
static const struct option_row OPTIONS[] = {
    FLAG("json", verb.output.json, "JSON in place of text (list, show)"), {0}};

static bool take_argument(struct argp_state *state, void *given, char *value) {
    struct job *job = given;
    if (job->action == ACTION_NONE) {
        job->action = !strcmp(value, "list")    ? ACTION_LIST
                      : !strcmp(value, "show")  ? ACTION_SHOW
                      : !strcmp(value, "check") ? ACTION_CHECK
                                                : ACTION_NONE;
        if (job->action == ACTION_NONE)
            options_fail(state, "%s: one of list, show NAME, check FILE", value);
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

static struct table *machine_table(const struct page *page) {
    static const struct table_column COLUMNS[] = {
        {"name", TABLE_WORD, .gap = 0},
        {"programs", TABLE_WORD, .gap = 2},
        {"clock", TABLE_FIGURE, .gap = 2},
        {"description", TABLE_TEXT, .gap = 2, .least = 24}};
    return table_with(page, COLUMNS, sizeof COLUMNS / sizeof *COLUMNS);
}

static void add_row(struct table *table, const char *name, const struct machine *machine) {
    table_cell(table, name);
    table_cell(table, machine->isa);
    table_figure(table, "%s GHz", text_quantity(machine->clock_ghz).s);
    table_cell(table, machine->description);
}

/* ---- which are the defaults ---- */

/* What is simulated on this host when no machine is named, by architecture. */
struct defaults {
    struct machine machines[ISA_COUNT];
};

static const char *const ISA_NAMES[ISA_COUNT] = {
    [ISA_X86_64] = "x86-64", [ISA_RISCV64] = "riscv64"};

static bool read_defaults(struct defaults *defaults, struct error *error) {
    struct processor processor;
    processor_read(&processor);
    for (int isa = 0; isa < ISA_COUNT; isa++) {
        struct machine_default chosen;
        if (!machine_default_of((enum isa)isa, &processor, &chosen, error) ||
            !machine_load(chosen.name, &defaults->machines[isa], error))
            return false;
        defaults->machines[isa].chosen = chosen.reason;
    }
    return true;
}

static json_t *defaults_object(const struct defaults *defaults) {
    json_t *object = json_object();
    for (int isa = 0; isa < ISA_COUNT; isa++) {
        const struct machine *machine = &defaults->machines[isa];
        json_object_set_new(object, ISA_NAMES[isa],
                            json_pack("{s:o, s:o}", "machine", json_text(machine->name),
                                      "machine_chosen", json_chosen(machine)));
    }
    return object;
}

static void print_defaults(const struct defaults *defaults, const struct page *page) {
    fputc('\n', page->file);
    page_print(page, "without --machine, on this host:");
    for (int isa = 0; isa < ISA_COUNT; isa++)
        page_print(page, "  %s programs: %s; %s", ISA_NAMES[isa], defaults->machines[isa].name,
                   defaults->machines[isa].chosen.why);
}

/* ---- the verb ---- */

/* One that cannot be read is told at once, and the others are listed. */
static bool list(struct job *job, struct error *error) {
    const bool json = job->verb.output.json;
    char **names = machine_list(error);
    if (!names)
        return false;
    json_t *array = json_array();
    const struct page page = page_of(stdout, false);
    struct table *table = machine_table(&page);
    bool good = true;
    for (char **name = names; *name; name++) {
        struct machine machine;
        if (!machine_load(*name, &machine, error)) {
            print_error(error);
            error->message[0] = 0;
            good = false;
        } else if (json)
            json_array_append_new(array, json_pack("{s:s, s:s, s:f, s:s}", "name", *name, "isa",
                                                   machine.isa, "clock_ghz", machine.clock_ghz,
                                                   "description", machine.description));
        else
            add_row(table, *name, &machine);
        free(*name);
    }
    free(names);
    struct defaults defaults;
    const bool known = read_defaults(&defaults, error);
    if (!known) {
        print_error(error);
        error->message[0] = 0;
        good = false;
    }
    if (json) {
        good &= json_write(json_pack("{s:O, s:o}", "machines", array, "defaults",
                                     known ? defaults_object(&defaults) : json_null()),
                           stdout, error);
    } else {
        table_print(table);
        if (known)
            print_defaults(&defaults, &page);
        printf("\nnext: culprit machines show %s\n",
               known ? defaults.machines[ISA_X86_64].name : "zen4");
    }
    json_decref(array);
    table_free(table);
    return verb_flush("cannot write the machines", error) && good;
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
    if (job->action == ACTION_CHECK && machine.form_count)
        printf("%s: good (machine %s, %u forms of %s)\n", job->machine, machine.name,
               machine.form_count, machine.forms_file);
    else if (job->action == ACTION_CHECK)
        printf("%s: good (machine %s)\n", job->machine, machine.name);
    else if (job->verb.output.json)
        return machine_json(&machine, stdout, error);
    else
        machine_print(&machine, stdout);
    return true;
}

static bool act(void *verb, struct error *error) {
    struct job *job = verb;
    return job->action == ACTION_LIST
               ? list(job, error)
               : show(job, error) && verb_flush("cannot write the machines", error);
}

const struct verb verb_machines = {.line = &LINE, .size = sizeof(struct job), .report = act};
