/* Inside of this room: the statements of struct backend (database.h), on a server. */
#pragma once

#include "store/postgres.h"

struct statement *postgres_prepare(struct store *store, const char *sql, bool kept,
                                   struct error *error);
void postgres_finalize(struct statement *given);
bool postgres_bind(struct store *store, struct statement *given, const struct datum *data,
                   int count, struct error *error);
int postgres_step(struct store *store, struct statement *given, struct error *error);
void postgres_reset(struct statement *given);
int64_t postgres_changes(struct store *store);

int64_t postgres_column_integer(struct statement *statement, int column);
double postgres_column_real(struct statement *statement, int column);
const void *postgres_column_bytes(struct statement *statement, int column, size_t *size);
const char *postgres_column_text(struct statement *statement, int column);
bool postgres_column_is_null(struct statement *statement, int column);
