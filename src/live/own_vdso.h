/* The library that the kernel maps into every process, as it is mapped into this one. */
#pragma once

#include <stddef.h>

/* NULL: there is none, or not of 64 bits. */
const void *own_vdso(size_t *size);
