/* Traces that other tools recorded, as items: what a trace can be read from (trace/open.c), and
 * with that all verbs. Each source tells in NOTE items what the format lacks and what stands for
 * it. Inside of this room; docs/foreign-traces.md says what is made of what. */
#pragma once

#include "trace/foreign/unpack.h"
#include "trace/item.h"

/* Looks at what is in `unpack`, which it takes over in any case, for a format that it knows. */
bool foreign_source_open(struct unpack *unpack, struct item_source *source, struct error *error);

/* Whether a file that begins so can be such a trace. */
enum { FOREIGN_LOOK = 64 * 64 };
bool champsim_is(const uint8_t *bytes, size_t size);
bool drmemtrace_is(const uint8_t *bytes, size_t size);

/* Take over `unpack`. */
bool champsim_source_open(struct unpack *unpack, struct item_source *source, struct error *error);
bool drmemtrace_source_open(struct unpack *unpack, struct item_source *source, struct error *error);

/* The items that each such trace begins with: its header, its process, the image of all code. It is
 * what `host` recorded. */
enum { FOREIGN_HEADER, FOREIGN_PROCESS, FOREIGN_IMAGE, FOREIGN_BEGUN };
struct item foreign_beginning(int stage, const char *path, const char *host, const char *image);
