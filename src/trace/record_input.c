#include "trace/record_input.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/event_code.h"
#include "trace/file_format.h"
#include "util/array.h"
#include "util/key_numbers.h"

enum { DATA_HEAD_BYTES = 48 /* of its payload */ };

/* What comes from byte `at` of the file on. */
static ssize_t read_more(struct record_input *input, uint64_t at) {
    return input->seeks ? pread(input->fd, input->ready, sizeof input->ready, (off_t)at)
                        : read(input->fd, input->ready, sizeof input->ready);
}

ssize_t record_input_bytes(struct record_input *input, uint8_t *to, size_t size,
                           struct error *error) {
    size_t done = 0;
    while (done < size && !input->ended) {
        size_t ready = input->end - input->at;
        if (ready) {
            size_t n = ready < size - done ? ready : size - done;
            memcpy(to + done, input->ready + input->at, n);
            input->at += n;
            done += n;
            continue;
        }
        ssize_t n = read_more(input, input->offset + done);
        if (n < 0 && errno == EINTR && !input->interrupted)
            continue;
        if (n < 0 && errno != EINTR) {
            error_errno(error, "cannot read trace %s", input->path);
            return -1;
        }
        input->ended = n <= 0;
        input->at = 0;
        input->end = n > 0 ? (size_t)n : 0;
    }
    input->offset += done;
    return (ssize_t)done;
}

/* Leaves out so many bytes. 1; 0: there are not so many; −1: error. */
static int skip_bytes(struct record_input *input, size_t size, struct error *error) {
    const size_t ready = input->end - input->at;
    const size_t here = size < ready ? size : ready;
    input->at += here;
    input->offset += size;
    if (size == here)
        return 1;
    struct stat status;
    if (fstat(input->fd, &status) != 0) {
        error_errno(error, "cannot read trace %s", input->path);
        return -1;
    }
    input->ended = input->offset > (uint64_t)status.st_size;
    return !input->ended;
}

int record_input_bad(const struct record_input *input, struct error *error, const char *what) {
    error_set(error, "%s, record at byte %" PRIu64 ": %s; the file is damaged", input->path,
              input->record, what);
    return -1;
}

int record_input_no_memory(const struct record_input *input, struct error *error) {
    error_set(error, "out of memory reading trace %s", input->path);
    return -1;
}

/* Of a DATA record of another thread than the one wanted only the head is read. The checksum is
 * then not known to be right. */
static int read_payload(struct record_input *input, const uint8_t *head, uint32_t size,
                        struct error *error) {
    const bool may_skip = input->skips && get_u32(head) == RECORD_DATA && size > DATA_HEAD_BYTES;
    size_t first = may_skip ? DATA_HEAD_BYTES : size, taken = first;
    if (!array_room(input->bytes, input->bytes_capacity, first + EVENT_CODE_SLACK))
        return record_input_no_memory(input, error);
    ssize_t n = record_input_bytes(input, input->bytes, first, error);
    if (n < (ssize_t)first)
        return n < 0 ? -1 : 0;
    const bool skipped = may_skip && get_u32(input->bytes + 4) != input->only;
    if (skipped) {
        const int status = skip_bytes(input, size - first, error);
        if (status <= 0)
            return status;
    } else {
        if (!array_room(input->bytes, input->bytes_capacity, (size_t)size + EVENT_CODE_SLACK))
            return record_input_no_memory(input, error);
        n = record_input_bytes(input, input->bytes + first, size - first, error);
        if (n < (ssize_t)(size - first))
            return n < 0 ? -1 : 0;
        taken = size;
    }
    memset(input->bytes + taken, 0, EVENT_CODE_SLACK);
    if (!skipped && record_checksum(head, input->bytes, size) != get_u64(head + 8))
        return record_input_bad(input, error, "its checksum is wrong");
    input->payload = (struct payload){input->bytes, input->bytes + taken, false};
    return 1;
}

int record_input_next(struct record_input *input, uint32_t *type, struct error *error) {
    uint8_t header[RECORD_HEAD_BYTES];
    input->record = input->offset;
    ssize_t n = record_input_bytes(input, header, sizeof header, error);
    if (n < (ssize_t)sizeof header)
        return n < 0 ? -1 : 0;
    *type = get_u32(header);
    uint32_t size = get_u32(header + 4);
    if (*type == 0 || *type >= RECORD_TYPE_COUNT)
        return record_input_bad(input, error, "it is of no known type");
    if (size > RECORD_MAX_BYTES)
        return record_input_bad(input, error, "it has an absurd size");
    return read_payload(input, header, size, error);
}

/* ---- one thread alone ---- */

/* Whether no set of predictions is used by two threads, as in files of before sets of threads. */
static bool has_sets_of_threads(const struct record_input *input) {
    uint8_t head[RECORD_HEAD_BYTES + DATA_HEAD_BYTES];
    struct key_numbers processes = {0};
    uint32_t *first_threads = NULL; /* by number */
    size_t capacity = 0;
    uint64_t at = FILE_PROLOGUE_BYTES;
    bool answer = true, more = true;
    for (; more; at += RECORD_HEAD_BYTES + get_u32(head + 4)) {
        const ssize_t n = pread(input->fd, head, sizeof head, (off_t)at);
        if (n < RECORD_HEAD_BYTES || (get_u32(head) == RECORD_DATA && n < (ssize_t)sizeof head))
            break; /* no DATA follows */
        if (get_u32(head) != RECORD_DATA)
            continue;
        const uint8_t *data = head + RECORD_HEAD_BYTES;
        const size_t known = processes.count;
        const uint32_t process = key_numbers_add(&processes, get_u32(data));
        answer = process != UINT32_MAX && array_room(first_threads, capacity, processes.count);
        if (answer && processes.count > known)
            first_threads[process] = get_u32(data + 4);
        const bool own = get_u32(data + 36) & DATA_OWN;
        answer = answer && first_threads && (own || first_threads[process] == get_u32(data + 4));
        more = answer && !own;
    }
    key_numbers_free(&processes);
    free(first_threads);
    return answer;
}

void record_input_only(struct record_input *input, uint32_t thread) {
    input->only = thread;
    input->skips = input->seeks && has_sets_of_threads(input);
}

/* ---- beginning and end ---- */

bool record_input_open(struct record_input *input, const char *path, struct error *error) {
    memset(input, 0, offsetof(struct record_input, ready));
    bool standard = strcmp(path, "-") == 0;
    struct stat status;
    input->fd = -1;
    input->path = strdup(standard ? "standard input" : path);
    if (!input->path)
        return error_set(error, "out of memory reading trace %s", path);
    input->fd = standard ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
                         : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (input->fd < 0)
        return error_errno(error, "cannot open trace %s", input->path);
    input->seeks = !standard && fstat(input->fd, &status) == 0 && S_ISREG(status.st_mode);
    return true;
}

void record_input_close(struct record_input *input) {
    if (input->fd >= 0)
        close(input->fd);
    free(input->bytes);
    free(input->path);
}
