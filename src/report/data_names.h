/* What kinds of data objects are called, in text and JSON. */
#pragma once

#include <stdint.h>

/* Of an enum object_kind (attribute/memory_objects.h). */
const char *object_kind_name(uint8_t kind);
