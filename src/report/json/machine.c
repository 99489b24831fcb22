/* machine_print() already writes every key once, in a form that reads back exactly; its lines are
 * turned into JSON, so that a key added to machines needs no second table here. */
#include "report/machine_json.h"

#include <stdlib.h>
#include <string.h>

#include "report/json_values.h"
#include "util/text.h"

/* Numbers as numbers, sizes (32K, 1M) in bytes, the rest as text. */
static json_t *value_of(const char *text) {
    char *end;
    double number = strtod(text, &end);
    if (end == text)
        return json_text(text);
    static const char suffixes[] = "KMGT";
    const char *suffix = *end && !end[1] ? strchr(suffixes, *end) : NULL;
    if (*end && !suffix)
        return json_text(text);
    for (const char *s = suffixes; suffix && s <= suffix; s++)
        number *= 1024;
    return number == (double)(json_int_t)number ? json_integer((json_int_t)number)
                                                : json_real(number);
}

static json_t *object_of(char *text) {
    json_t *whole = json_object(), *section = whole;
    char *rest = text;
    for (char *line; (line = strsep(&rest, "\n"));) {
        char *value = strchr(line, '=');
        if (*line == '[') {
            line[strcspn(line, "]")] = 0;
            section = json_object();
            json_object_set_new(whole, line + 1, section);
        } else if (value) {
            line[strcspn(line, " =")] = 0;
            value += 1 + strspn(value + 1, " ");
            char *comment = strcmp(line, "description") ? strstr(value - 1, " ;") : NULL;
            size_t length = comment ? (size_t)(comment + 1 - value) : strlen(value);
            while (length && value[length - 1] == ' ')
                length--;
            value[length] = 0;
            json_object_set_new(section, line, value_of(value));
        }
    }
    return whole;
}

bool machine_json(const struct machine *machine, FILE *file, struct error *error) {
    struct text_printer printer;
    FILE *memory = text_printer_begin(&printer);
    if (!memory)
        return error_set(error, "out of memory for the machine");
    machine_print(machine, memory);
    char *text = text_printer_end(&printer);
    json_t *object = text ? object_of(text) : NULL;
    free(text);
    return json_write(object, file, error);
}

bool machine_checked_json(const char *checked, const struct machine *machine, FILE *file,
                          struct error *error) {
    json_t *forms = machine->form_count
                        ? json_pack("{s:o, s:i}", "file", json_text(machine->forms_file), "count",
                                    (int)machine->form_count)
                        : json_null();
    return json_write(json_pack("{s:o, s:s, s:o}", "checked_file", json_text(checked), "machine",
                                machine->name, "forms", forms),
                      file, error);
}
