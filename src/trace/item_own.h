/* Items that outlive the source that gave them. Inside of this room. */
#pragma once

#include "trace/item.h"
#include "util/arena.h"

/* What the item points to is copied into the arena, and is the copy from now on; but for events of
 * DATA. False: memory is out. */
bool item_own(struct item *item, struct arena *arena);
