/* Inside of this room: values for the parameters of a statement, as PQexecParams() takes them.
 * Numbers are text. */
#pragma once

#include "store/database.h"

enum { PARAMETERS_MAX = 16 };

struct parameters {
    const char *values[PARAMETERS_MAX];
    int lengths[PARAMETERS_MAX], formats[PARAMETERS_MAX];
    char numbers[PARAMETERS_MAX][32];
    char *lists[PARAMETERS_MAX]; /* to be freed */
    int count;
};

/* At most PARAMETERS_MAX. Texts and blobs stay the caller's, and must live until the statement was
 * run. Whatever was set before is freed. */
bool parameters_set(struct store *store, struct parameters *parameters, const struct datum *data,
                    int count, struct error *error);
void parameters_free(struct parameters *parameters);
