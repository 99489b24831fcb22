#include "report/legend.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* False: there is no home to keep it in. */
static bool mark_path(char path[PATH_MAX]) {
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    int length = -1;
    if (state && *state == '/')
        length = snprintf(path, PATH_MAX, "%s/culprit/legend", state);
    else if (home && *home == '/')
        length = snprintf(path, PATH_MAX, "%s/.local/state/culprit/legend", home);
    return length > 0 && length < PATH_MAX;
}

bool legend_is_new(FILE *file) {
    char path[PATH_MAX];
    return isatty(fileno(file)) && !(mark_path(path) && access(path, F_OK) == 0);
}

void legend_was_shown(FILE *file) {
    char path[PATH_MAX];
    if (!isatty(fileno(file)) || !mark_path(path))
        return;
    for (char *slash = path; (slash = strchr(slash + 1, '/'));) {
        *slash = 0;
        mkdir(path, 0777);
        *slash = '/';
    }
    int mark = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (mark >= 0)
        close(mark);
}
