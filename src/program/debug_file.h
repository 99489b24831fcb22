/* Finds where a stripped file's symbols and debugging information went. */
#pragma once

#include "program/debug_server.h"
#include "program/elf_image.h"

/* Opens the separate debug file of an image: by its build id under /usr/lib/debug/.build-id, else
 * among the files that were fetched from debuginfod servers, else by its .gnu_debuglink next to the
 * file, in .debug beside it, and under /usr/lib/debug, else from a debuginfod server. A file whose
 * build id (or, without one, whose checksum) differs is not taken. False: none found. */
bool debug_file_open(struct elf_image *debug, const struct elf_image *image, const char *path,
                     bool ask_servers);

/* Opens a file of a build id (size 0: none) from a debuginfod server. False: it has none, or what
 * it has is refused. */
bool served_file_open(struct elf_image *image, enum debug_server_file file, const uint8_t *build_id,
                      size_t size);

/* Opens the symbol table compressed into an image's .gnu_debugdata. False: it has none, or it is
 * damaged. */
bool debug_data_open(struct elf_image *debug, const struct elf_image *image, const char *path);
