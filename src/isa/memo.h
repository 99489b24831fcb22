/* Instructions decoded before: what is read again and again, as a trace by each of many
 * simulations, is decoded once. Threads may share one. */
#pragma once

#include "isa/insn.h"

struct insn_memo;

/* NULL: out of memory. */
struct insn_memo *insn_memo_new(void);
void insn_memo_free(struct insn_memo *memo); /* NULL: nothing */

/* As insn_decode(), of which it remembers the answers for about 60,000 places (8 MB at most); with
 * NULL it is that. */
bool insn_memo_decode(struct insn_memo *memo, enum isa isa, const uint8_t *bytes, size_t size,
                      struct insn *insn);
