/* Finds where a stripped file's symbols and debugging information went. */
#pragma once

#include "program/elf_image.h"

/* Opens the separate debug file of an image: by its build id under /usr/lib/debug/.build-id, else
 * among the files that debuginfod-find has fetched, else by its .gnu_debuglink next to the file, in
 * .debug beside it, and under /usr/lib/debug. A file whose build id (or, without one, whose
 * checksum) differs is not taken. False: none found. */
bool debug_file_open(struct elf_image *debug, const struct elf_image *image, const char *path);

/* Opens the symbol table compressed into an image's .gnu_debugdata. False: it has none, or it is
 * damaged. */
bool debug_data_open(struct elf_image *debug, const struct elf_image *image, const char *path);
