/* Where profiles are kept when nobody says where. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/store.h"

static const char MACHINE_STORE[] = "/var/lib/culprit/profiles.db";

static bool own_path(char path[PATH_MAX], struct error *error) {
    const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
    int length;
    if (data && *data == '/')
        length = snprintf(path, PATH_MAX, "%s/culprit/profiles.db", data);
    else if (home && *home)
        length = snprintf(path, PATH_MAX, "%s/.local/share/culprit/profiles.db", home);
    else
        return error_set(error, "where to keep profiles? (HOME is not set: give --store FILE, or "
                                "set CULPRIT_STORE)");
    return length < PATH_MAX || error_set(error, "the path of the store in your home is too long: "
                                                 "give --store FILE, or set CULPRIT_STORE");
}

bool store_default_path(char path[PATH_MAX], enum store_access access_wanted, struct error *error) {
    const char *given = getenv("CULPRIT_STORE");
    if (given && *given)
        return snprintf(path, PATH_MAX, "%s", given) < PATH_MAX ||
               error_set(error, "CULPRIT_STORE: the path is too long");
    if (geteuid() != 0) {
        if (!own_path(path, error))
            return false;
        if (access_wanted == STORE_WRITE || access(path, F_OK) == 0 ||
            access(MACHINE_STORE, R_OK) != 0)
            return true;
    }
    memcpy(path, MACHINE_STORE, sizeof MACHINE_STORE);
    return true;
}

struct store *store_open_default(const char *path, enum store_access access, struct error *error) {
    char chosen[PATH_MAX];
    if (!path && !store_default_path(chosen, access, error))
        return NULL;
    return store_open(path ? path : chosen, access, error);
}
