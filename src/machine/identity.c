/* Of its text as a file, without what only people read, and of its table of forms. */
#include "machine/identity.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "util/text.h"

static void print_ports(const struct machine_ports *ports, FILE *file) {
    for (int i = 0; i < MACHINE_MAX_POOLS; i++)
        fprintf(file, " %x", ports->units[i]);
    fputc('\n', file);
}

/* By their texts, since numbers of forms belong to one build. */
static void print_forms(const struct machine *machine, FILE *file) {
    char text[FORM_TEXT_SIZE];
    for (uint32_t i = 0; i < machine->form_count; i++) {
        const struct machine_form *form = &machine->forms[i];
        form_text(form->form, text);
        fprintf(file, "%s: %a %u %u %u %u %u\n", text, (double)form->throughput, form->latency,
                form->address_latency, form->flag_latency, form->ports, form->uops);
    }
    for (uint32_t i = 0; i < machine->form_ports_count; i++)
        print_ports(&machine->form_ports[i], file);
}

bool machine_identity(const struct machine *machine, uint64_t *number, struct error *error) {
    struct text_printer printer;
    struct machine *bare = malloc(sizeof *bare);
    FILE *file = bare ? text_printer_begin(&printer) : NULL;
    char *text = NULL;
    if (file) {
        *bare = *machine;
        bare->name[0] = bare->description[0] = bare->processor[0] = bare->forms_file[0] = 0;
        bare->checked[0] = 0;
        machine_print(bare, file);
        print_forms(bare, file);
        text = text_printer_end(&printer);
    }
    if (text)
        *number = XXH3_64bits(text, strlen(text));
    free(text);
    free(bare);
    return text || error_set(error, "out of memory for a machine");
}
