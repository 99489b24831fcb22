/* Which thread wrote what another reads from a pipe, an eventfd or a pair of sockets, behind a wait
 * for events.
 *
 * A channel is known by the number of its end that is read: pipes have one inode for both ends, an
 * eventfd has the descriptor, and of pairs of sockets it is noted which inode is whose peer. The
 * writer is noted before its call, for the reader may return first. */
#include "trace/qemu/plugin.h"

#include <pthread.h>
#include <string.h>
#include <sys/stat.h>

enum { CHANNELS = 256, PAIRS = 64, KIND_BITS = 2 };

static struct channel {
    uint64_t key; /* 0: none */
    uint32_t writer;
    uint64_t written;
} channels[CHANNELS]; /* by key; of two with one place the later is known */
static struct pair { uint64_t ends[2]; /* inodes */ } pairs[PAIRS]; /* the last ones */
static uint32_t pair_count;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static struct channel *channel_of(uint64_t key) {
    return &channels[(key >> KIND_BITS) % CHANNELS];
}

static uint64_t peer_of(uint64_t inode) {
    for (uint32_t i = 0; i < PAIRS; i++)
        for (uint32_t end = 0; end < 2; end++)
            if (pairs[i].ends[end] == inode)
                return pairs[i].ends[1 - end];
    return 0;
}

/* 0: it is no channel that is known. */
static uint64_t key_of(int descriptor, bool writes) {
    enum { OF_PIPE = 1, OF_SOCKET, OF_DESCRIPTOR };
    struct stat status;
    if (fstat(descriptor, &status) != 0)
        return 0;
    const uint64_t inode = (uint64_t)status.st_ino;
    if (S_ISFIFO(status.st_mode))
        return inode << KIND_BITS | OF_PIPE;
    if (S_ISSOCK(status.st_mode)) {
        const uint64_t end = writes ? peer_of(inode) : inode;
        return end ? end << KIND_BITS | OF_SOCKET : 0;
    }
    return status.st_mode & S_IFMT ? 0 : (uint64_t)descriptor << KIND_BITS | OF_DESCRIPTOR;
}

void channel_pair(const int descriptors[2]) {
    struct stat ends[2];
    if (fstat(descriptors[0], &ends[0]) != 0 || fstat(descriptors[1], &ends[1]) != 0)
        return;
    pthread_mutex_lock(&mutex);
    pairs[pair_count++ % PAIRS] =
        (struct pair){{(uint64_t)ends[0].st_ino, (uint64_t)ends[1].st_ino}};
    pthread_mutex_unlock(&mutex);
}

void channel_write(int descriptor, uint32_t thread, uint64_t position) {
    pthread_mutex_lock(&mutex);
    const uint64_t key = key_of(descriptor, true);
    if (key)
        *channel_of(key) = (struct channel){key, thread, position};
    pthread_mutex_unlock(&mutex);
}

bool channel_read(int descriptor, uint32_t thread, uint32_t *writer, uint64_t *written) {
    pthread_mutex_lock(&mutex);
    const uint64_t key = key_of(descriptor, false);
    const struct channel *channel = channel_of(key);
    const bool known = key && channel->key == key && channel->writer != thread;
    *writer = channel->writer;
    *written = channel->written;
    pthread_mutex_unlock(&mutex);
    return known;
}

void channel_forked(void) {
    pthread_mutex_init(&mutex, NULL);
    memset(channels, 0, sizeof channels);
}
