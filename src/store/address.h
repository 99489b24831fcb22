/* Addresses of stores in PostgreSQL. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* postgresql://... or postgres://..., as libpq takes them ("Connection URIs" in its
 * documentation); else it is a file. */
bool store_is_address(const char *path);

/* The length of what stands in front of "://" in an address of something else, or of what stands in
 * front of ':' in a mistyped one of PostgreSQL, which is no file that anybody means; 0: it is none.
 * Such files are reached by "./http://...". */
size_t store_other_scheme(const char *path);

/* As it may be shown: without a password, wherever one may stand in it. Of a file, its path. */
const char *store_shown_address(const char *path, char shown[PATH_MAX]);
