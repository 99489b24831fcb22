/* Inside of this room: symbols that go with an epoch. */
#pragma once

#include "store/push.h"

/* Sends those of an image that the server lacks. */
bool push_symbols(struct push *push, int64_t here, int64_t there, struct error *error);
/* Notes in the file what push_symbols() has sent. */
bool push_note_symbols(struct push *push, struct error *error);
