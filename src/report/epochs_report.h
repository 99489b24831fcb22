/* What `culprit epochs` says that it has done, in a line or a few, with the next useful command.
 * `named`: of a store that is not the one by default, so that the command names it. */
#pragma once

#include <stdio.h>

#include "exchange/exchange.h"
#include "live/store_upkeep.h"
#include "store/day_sums.h"
#include "store/push.h"
#include "store/server.h"

/* init: a server's tables. */
void server_made_text(const struct store_server_made *made, FILE *file);
/* sum; `interrupted`: it goes on another time. */
void sums_made_text(const struct day_sums_made *made, bool interrupted, FILE *file);
/* Why days have no sum: false, with the error; true: all have. */
bool sums_made_all(const struct day_sums_made *made, struct error *error);
/* prune. */
void pruned_text(const struct store_upkeep_pruned *pruned, FILE *file);
/* What removing has left unused, and how to give it back; nothing where it has left none. */
void unused_text(struct store *store, bool named, FILE *file);
/* export --push to a server; `good`: all that was to be sent was. */
void pushed_text(const struct push *push, const struct pushed *sent, bool good, FILE *file);
/* export to a file; EXCHANGE_FORMATS: as a store. */
void exported_text(size_t epochs, enum exchange_format format, const char *path, FILE *file);
/* import of a file of another tool. */
void imported_text(const struct exchange_imported *imported, const struct store *store, bool named,
                   FILE *file);
