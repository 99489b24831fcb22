#include "store/libpq.h"

#include <dlfcn.h>

bool libpq_load(struct libpq *libpq, struct error *error) {
    void *object = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
    if (!object)
        return error_set(error, "profiles on a server take libpq.so.5 (apt install libpq5)");
    bool good = true;
#define LIBPQ_FIND(name) good &= (*(void **)&libpq->name = dlsym(object, #name)) != NULL;
    LIBPQ_FUNCTIONS(LIBPQ_FIND)
#undef LIBPQ_FIND
    return good ||
           error_set(error, "libpq.so.5 lacks a function: is it of PostgreSQL 14 or later?");
}
