/* IMAGE:NAME, as a procedure may be chosen. Names hold colons as well ("ns::f", "-[View draw:]"):
 * there are as many readings as there are colons that stand alone, besides that all is a name. */
#pragma once

#include <limits.h>
#include <stdbool.h>

struct image_name {
    char image[PATH_MAX]; /* a path or the last part of one: profile_path_is() */
    const char *name;     /* within the text; NULL before the first */
};

/* The next reading of a text, from left to right; false: there is none. An image is never empty. */
bool image_name_next(struct image_name *reading, const char *text);
