/* Sends profiles to a collector of OpenTelemetry, over HTTP (OTLP/HTTP). */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "store/store.h"

/* Whether this is an address that can be sent to: http:// or https://, and no spaces. */
bool push_is_url(const char *url);

/* POSTs a request of OTLP to `url`/v1development/profiles, or to `url` if it ends in that. Waits
 * for an answer for $OTEL_EXPORTER_OTLP_TIMEOUT milliseconds (10,000). A server that is busy is
 * asked again, three times at most, when it says (at most 30 seconds later). The error names the
 * address and what the server said. */
bool push_profiles(const char *url, const void *request, size_t size, struct error *error);
/* Profiles of a store, as `filter` chooses, likewise: of the option --push, which the error names.
 */
bool push_store(struct store *store, const struct store_filter *filter, const char *url,
                struct error *error);
