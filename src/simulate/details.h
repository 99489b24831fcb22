/* What a simulation tells beside the cycles of instructions: of callers, of data, of slots. */
#pragma once

#include <stdbool.h>

struct path_extents;
struct object_names;

struct simulation_details {
    /* Fill `paths` of struct simulation, with functions as these tell. NULL: not. */
    const struct path_extents *extents;
    bool paths_of_data; /* of `paths` those alone that data objects have; no cycles in them */
    /* With `extents`: fill `data`, with names of data as these tell. NULL: not. */
    const struct object_names *names;
    bool top_down; /* fill `slots`; of a machine without them (top_down_missing()): none */
};
