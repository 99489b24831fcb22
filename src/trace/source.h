/* A trace from any source of items: what trace_open() and trace_capture() are made of, and how
 * tests feed a decoder by hand. */
#pragma once

#include "trace/item.h"
#include "trace/trace.h"

/* Takes over the source (closes it also on failure). Reads up to its HEADER. */
struct trace *trace_from_source(const struct item_source *source, struct error *error);

/* Its instructions are decoded by a memo (trace_open_again()). */
void trace_remember(struct trace *trace, struct insn_memo *memo);
/* Its code is that of another trace (trace_open_beside()). */
void trace_share(struct trace *trace, struct trace *read);
