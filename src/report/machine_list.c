#include "report/machine_list.h"

#include <stdlib.h>
#include <string.h>

#include "machine/default.h"
#include "machine/machine.h"
#include "report/json_values.h"
#include "report/table.h"
#include "util/text.h"

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
    char shown[PATH_MAX]; /* that for x86-64, as 'machines show' finds it */
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
        if (isa == ISA_X86_64)
            snprintf(defaults->shown, sizeof defaults->shown, "%s",
                     chosen.reason.by == MACHINE_BY_ENVIRONMENT ? chosen.name
                                                                : defaults->machines[isa].name);
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

/* ---- how far they are from processors ---- */

/* `checked`: a line for each machine; it is used up. */
static void print_checked(char *checked, const struct page *page) {
    char *line;
    if (!checked || !*checked)
        return;
    fputc('\n', page->file);
    page_print(page, "cycles of programs simulated on them, against such processors:");
    while ((line = strsep(&checked, "\n")))
        if (*line)
            page_wrap(page, line, NULL, "  ", "    ");
}

/* ---- all ---- */

bool machine_list_print(bool json, void (*complain)(const struct error *error), FILE *file,
                        struct error *error) {
    char **names = machine_list(error);
    if (!names)
        return false;
    json_t *array = json_array();
    const struct page page = page_of(file, false);
    struct table *table = machine_table(&page);
    struct text_printer printer;
    FILE *checked = text_printer_begin(&printer);
    bool good = true;
    for (char **name = names; *name; name++) {
        struct machine machine;
        if (!machine_load(*name, &machine, error)) {
            complain(error);
            error->message[0] = 0;
            good = false;
        } else if (json)
            json_array_append_new(
                array,
                json_pack("{s:s, s:s, s:f, s:s, s:o}", "name", *name, "isa", machine.isa,
                          "clock_ghz", machine.clock_ghz, "description", machine.description,
                          "checked", *machine.checked ? json_text(machine.checked) : json_null()));
        else
            add_row(table, *name, &machine);
        if (checked && *machine.checked)
            fprintf(checked, "%-16s %s\n", *name, machine.checked);
        free(*name);
    }
    free(names);
    char *distances = checked ? text_printer_end(&printer) : NULL;
    struct defaults defaults;
    const bool known = read_defaults(&defaults, error);
    if (!known) {
        complain(error);
        error->message[0] = 0;
        good = false;
    }
    if (json) {
        good &= json_write(json_pack("{s:O, s:o}", "machines", array, "defaults",
                                     known ? defaults_object(&defaults) : json_null()),
                           file, error);
    } else {
        table_print(table);
        print_checked(distances, &page);
        if (known)
            print_defaults(&defaults, &page);
        fprintf(file, "\nnext: culprit machines show ");
        text_put_word(file, known ? defaults.shown : "zen4");
        fputc('\n', file);
    }
    free(distances);
    json_decref(array);
    table_free(table);
    return good;
}
