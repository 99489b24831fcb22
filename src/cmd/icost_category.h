/* Categories of a user's own in `culprit icost`. */
#ifndef CULPRIT_CMD_ICOST_CATEGORY_H
#define CULPRIT_CMD_ICOST_CATEGORY_H

#include "cmd/option.h"

#include "graph/category.h"

struct category_choice {
    struct categories categories;                               /* none: the standard ones */
    const char *texts[CATEGORIES_MAX], *places[CATEGORIES_MAX]; /* see category_places_new() */
    bool placed;                                                /* any has places */
};
extern const struct option_group category_group; /* of a struct category_choice */

#endif
