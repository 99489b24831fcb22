#include "store/postgres_parameters.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *list_text(const int64_t *numbers, int64_t count) {
    enum { DIGITS_MAX = 21 };
    char *text = malloc((size_t)count * DIGITS_MAX + 3), *to = text;
    if (!text)
        return NULL;
    *to++ = '{';
    for (int64_t i = 0; i < count; i++)
        to += sprintf(to, "%s%" PRId64, i ? "," : "", numbers[i]);
    strcpy(to, "}");
    return text;
}

static bool set_parameter(struct parameters *parameters, int at, const struct datum *datum) {
    char *number = parameters->numbers[at];
    parameters->values[at] = number;
    parameters->formats[at] = 0;
    switch (datum->type) {
    case DATUM_INTEGER:
        sprintf(number, "%" PRId64, datum->integer);
        return true;
    case DATUM_REAL:
        sprintf(number, "%.17g", datum->real);
        return true;
    case DATUM_LIST:
        parameters->values[at] = NULL;
        if (datum->bytes)
            parameters->values[at] = parameters->lists[at] =
                list_text(datum->bytes, datum->integer);
        return !datum->bytes || parameters->lists[at];
    case DATUM_LITERAL:
        parameters->values[at] = datum->bytes;
        return true;
    default:
        parameters->formats[at] = 1;
        parameters->values[at] = datum->bytes ? datum->bytes : "";
        parameters->lengths[at] =
            datum->type == DATUM_BLOB ? (int)datum->integer : (int)strlen(parameters->values[at]);
        return true;
    }
}

void parameters_free(struct parameters *parameters) {
    for (int i = 0; i < PARAMETERS_MAX; i++) {
        free(parameters->lists[i]);
        parameters->lists[i] = NULL;
    }
}

bool parameters_set(struct store *store, struct parameters *parameters, const struct datum *data,
                    int count, struct error *error) {
    parameters_free(parameters);
    parameters->count = count;
    for (int i = 0; i < count; i++)
        if (!set_parameter(parameters, i, &data[i]))
            return database_out_of_memory(store, error);
    return true;
}
