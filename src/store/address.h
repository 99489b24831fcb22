/* Addresses of stores in PostgreSQL. */
#pragma once

#include <limits.h>
#include <stdbool.h>

/* postgresql://... or postgres://..., as libpq takes them ("Connection URIs" in its
 * documentation); else it is a file. */
bool store_is_address(const char *path);

/* As it may be shown: without a password, wherever one may stand in it. Of a file, its path. */
const char *store_shown_address(const char *path, char shown[PATH_MAX]);
