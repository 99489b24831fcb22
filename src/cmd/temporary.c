#include "cmd/temporary.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

const char *temporary_parent(void) {
    const char *parent = getenv("TMPDIR");
    return parent && *parent ? parent : "/tmp";
}

char *temporary_folder(struct error *error) {
    char *folder;
    if (asprintf(&folder, "%s/culprit-XXXXXX", temporary_parent()) < 0) {
        error_set(error, "out of memory");
        return NULL;
    }
    if (mkdtemp(folder))
        return folder;
    error_errno(error, "%s: cannot make a folder for traces (see TMPDIR)", folder);
    free(folder);
    return NULL;
}

void temporary_remove(char *folder) {
    if (!folder)
        return;
    DIR *files = opendir(folder);
    struct dirent *file;
    while (files && (file = readdir(files)))
        unlinkat(dirfd(files), file->d_name, 0);
    if (files)
        closedir(files);
    rmdir(folder);
    free(folder);
}
