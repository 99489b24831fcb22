/* Sessions that leave a store as a file of their own, and come back. */
#pragma once

#include "store/store.h"

/* Copies sessions into a store in a new file; there is none unless all are in it. */
bool store_export(struct store *store, const int64_t *sessions, size_t count, const char *path,
                  struct error *error);
/* All sessions of another store, `*count` of them. */
bool store_import(struct store *store, const char *path, size_t *count, struct error *error);

/* Whether the store is in this file, by whatever name. */
bool store_is_file(const struct store *store, const char *path);
/* Whether a path is that of a store: the address of a server, or a file that begins as one. */
bool store_is_at(const char *path);
