#include "util/command_path.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int command_find(const char *name, char *path, size_t size) {
    if (!*name)
        return ENOENT;
    if (strchr(name, '/')) {
        if ((size_t)snprintf(path, size, "%s", name) >= size)
            return ENAMETOOLONG;
        return access(path, X_OK) == 0 ? 0 : errno;
    }
    const char *folders = getenv("PATH");
    int reason = ENOENT;
    for (const char *at = folders ? folders : "/usr/local/bin:/usr/bin:/bin"; at;) {
        size_t length = strcspn(at, ":");
        int written = snprintf(path, size, "%.*s%s%s", (int)length, at, length ? "/" : "", name);
        struct stat status;
        if ((size_t)written < size && stat(path, &status) == 0 && S_ISREG(status.st_mode)) {
            if (access(path, X_OK) == 0)
                return 0;
            reason = errno;
        }
        at = at[length] ? at + length + 1 : NULL;
    }
    return reason;
}

static bool is_folder(const char *name) {
    struct stat status;
    return strchr(name, '/') && stat(name, &status) == 0 && S_ISDIR(status.st_mode);
}

int command_refused(const char *name, int reason, struct error *error) {
    const bool missing = reason == ENOENT || reason == ENOTDIR;
    const bool here = reason == ENOENT && *name && !strchr(name, '/') && access(name, X_OK) == 0;
    error_set(error, "cannot run %s: %s%s%s%s", *name ? name : "''",
              strerror(is_folder(name) ? EISDIR : reason),
              reason == ENOEXEC ? ": it is damaged, or for another kind of processor" : "",
              here ? ": it is not in PATH, but here: ./" : "", here ? name : "");
    return missing ? 127 : 126;
}
