/* Any bytes as a table of instruction forms: an error of one line that names the file, or forms in
 * order, each found by its number, with ports that the machine has. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "machine/machine.h"

static void check(const struct machine *machine) {
    assert(machine->form_count <= MACHINE_MAX_FORMS);
    for (uint32_t i = 0; i < machine->form_count; i++) {
        const struct machine_form *said = &machine->forms[i];
        char text[FORM_TEXT_SIZE];
        const char *end;
        form_text(said->form, text);
        assert(form_parse(text, &end) == said->form);
        assert(machine_form_of(machine, said->form) == said);
        assert(said->ports <= machine->form_ports_count && said->uops <= FORM_MOST_UOPS);
        assert(said->throughput <= 1000);
        assert(said->latency <= 1000 || said->latency == FORM_UNKNOWN);
    }
    for (uint32_t i = 0; i < machine->form_ports_count; i++)
        for (uint32_t pool = 0; pool < MACHINE_MAX_POOLS; pool++)
            assert(!machine->form_ports[i].units[pool] ||
                   (pool < machine->pool_count &&
                    !(machine->form_ports[i].units[pool] >> machine->pools[pool].units)));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static struct machine machine;
    struct error error = {0};
    if (!machine.pool_count)
        assert(machine_load("zen4", &machine, &error));
    if (machine_forms_read(&machine, "t.forms", (const char *)bytes, size, &error))
        check(&machine);
    else
        assert(!strncmp(error.message, "t.forms:", 8) && !strchr(error.message, '\n'));
    return 0;
}
