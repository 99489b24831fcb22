#include "query/near_names.h"

#include <stdio.h>
#include <string.h>

#include "program/function_name.h"
#include "util/nearest.h"

enum { NAME_BYTES = 200 };

static void name_list_add(struct name_list *list, const char *name) {
    const size_t used = strlen(list->text);
    if (list->count++ < NAMES_TOLD)
        snprintf(list->text + used, sizeof list->text - used, "%s'%.*s'", used ? ", " : "",
                 NAME_BYTES, name);
    else if (list->count == NAMES_TOLD + 1)
        snprintf(list->text + used, sizeof list->text - used, ", ...");
}

void name_list_add_procedure(struct name_list *list, const char *procedure) {
    char name[NAME_BYTES];
    name_list_add(list, function_scoped_name(name, sizeof name, procedure));
}

static bool has_part(const char *name, const char *wanted) {
    enum { LEAST = 2 }; /* letters, for a part of a name */
    return strlen(wanted) >= LEAST && strcasestr(name, wanted);
}

void name_list_add_near(struct name_list *list, const char *name, const char *wanted) {
    char quoted[NAME_BYTES + 3];
    if (!has_part(name, wanted) && !word_is_near(wanted, name))
        return;
    snprintf(quoted, sizeof quoted, "'%.*s'", NAME_BYTES, name);
    if (list->count < NAMES_TOLD && !strstr(list->text, quoted))
        name_list_add(list, name);
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
    char wanted[NAME_BYTES], word[NAME_BYTES];
    function_last_word(wanted, sizeof wanted, name);
    for (int by_letters = 0; by_letters < 2; by_letters++)
        for (size_t i = 0; i < profile_table_count(table) && list->count < NAMES_TOLD; i++) {
            const char *procedure = profile_table_row(table, i)->procedure;
            if (!procedure)
                continue;
            const bool part = has_part(procedure, name);
            const bool near =
                *wanted && word_is_near(wanted, function_last_word(word, sizeof word, procedure));
            if ((by_letters ? near && !part : part) && !is_earlier(table, i))
                name_list_add_procedure(list, procedure);
        }
}
