#include "util/descriptors.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

enum { MANY = 65536 };

void descriptors_mute_inherited(void) {
    struct rlimit limit;
    int end =
        getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < MANY ? (int)limit.rlim_cur : MANY;
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int file = STDERR_FILENO + 1; file < end; file++) {
        int inherited = fcntl(file, F_GETFD);
        if (inherited < 0 || inherited & FD_CLOEXEC)
            continue;
        if ((fcntl(file, F_GETFL) & O_ACCMODE) != O_RDONLY)
            dup2(nothing, file);
    }
}
