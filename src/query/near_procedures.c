#include "query/near_procedures.h"

#include <stdio.h>
#include <string.h>

#include "program/function_name.h"
#include "util/nearest.h"

enum { NAME_BYTES = 200 };

void name_list_add(struct name_list *list, const char *procedure) {
    char name[NAME_BYTES];
    const size_t used = strlen(list->text);
    if (list->count++ < NAMES_TOLD)
        snprintf(list->text + used, sizeof list->text - used, "%s'%s'", used ? ", " : "",
                 function_scoped_name(name, sizeof name, procedure));
    else if (list->count == NAMES_TOLD + 1)
        snprintf(list->text + used, sizeof list->text - used, ", ...");
}

static bool is_earlier(const struct profile_table *table, size_t row) {
    const char *procedure = profile_table_row(table, row)->procedure;
    for (size_t i = 0; i < row; i++) {
        const char *other = profile_table_row(table, i)->procedure;
        if (other && !strcmp(other, procedure))
            return true;
    }
    return false;
}

void near_procedures(struct name_list *list, const struct profile_table *table, const char *name) {
    enum { LEAST = 2 }; /* letters, for a part of a name */
    char wanted[NAME_BYTES], word[NAME_BYTES];
    function_last_word(wanted, sizeof wanted, name);
    for (int by_letters = 0; by_letters < 2; by_letters++)
        for (size_t i = 0; i < profile_table_count(table) && list->count < NAMES_TOLD; i++) {
            const char *procedure = profile_table_row(table, i)->procedure;
            if (!procedure)
                continue;
            const bool part = strlen(name) >= LEAST && strcasestr(procedure, name);
            const bool near =
                *wanted && word_is_near(wanted, function_last_word(word, sizeof word, procedure));
            if ((by_letters ? near && !part : part) && !is_earlier(table, i))
                name_list_add(list, procedure);
        }
}
