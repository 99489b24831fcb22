/* Categories of a user's own in `culprit icost`. */
#ifndef CULPRIT_CMD_ICOST_CATEGORY_H
#define CULPRIT_CMD_ICOST_CATEGORY_H

#include "cmd/option.h"

#include "study/icost.h"

extern const struct option_group category_group; /* of a struct category_choice */

#endif
