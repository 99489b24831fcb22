/* The command that installs the debug symbols of files: from Debian's packages, or other
 * distributions'. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The system whose files are asked about. */
struct symbol_system {
    const char *root; /* put before /etc, /var/lib and /usr/share; "": this system */
};

/* This system. */
struct symbol_system symbol_system_here(void);

struct symbol_advice {
    char *command; /* brings the symbols of all files that it can, in one line for a shell; NULL:
                      of none */
    char *unowned; /* base names of files that no package has, "a, b"; NULL: none */
    char *present; /* names of symbol packages that are installed, of another build than the files;
                      NULL: none */
};

/* Looks for the packages of files (absolute paths, also as they are named with /usr merged). Reads
 * the package manager's own lists and starts no program. False: memory is out. The advice is to be
 * freed either way. */
bool symbol_advice_find(const struct symbol_system *system, const char *const *paths, size_t count,
                        struct symbol_advice *advice);
void symbol_advice_free(struct symbol_advice *advice);
