/* Writing to a descriptor, whatever interrupts it. */
#pragma once

#include <stddef.h>

/* How many of the bytes are written. Fewer than `size`: errno tells why. */
size_t write_all(int file, const void *bytes, size_t size);
