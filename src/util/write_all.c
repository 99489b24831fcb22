#include "util/write_all.h"

#include <errno.h>
#include <unistd.h>

size_t write_all(int file, const void *bytes, size_t size) {
    size_t done = 0;
    while (done < size) {
        const ssize_t written = write(file, (const char *)bytes + done, size - done);
        if (written < 0 && errno == EINTR)
            continue;
        if (written == 0)
            errno = EIO;
        if (written <= 0)
            break;
        done += (size_t)written;
    }
    return done;
}
