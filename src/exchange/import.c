/* Which reader a file is for, and the session that comes of it. */
#include "exchange/import.h"

#include <string.h>
#include <time.h>

#include "exchange/format.h"

/* A profile of pprof begins with a sample type, whose first bytes are no text. */
static bool recognise(struct input *input, enum exchange_format *format, struct error *error) {
    enum { LOOKED_AT = 512 };
    const char *bytes;
    size_t size;
    if (!input_peek(input, &bytes, &size, error))
        return false;
    if (!size)
        return error_set(error, "%s: is empty", input->path);
    if (size >= 9 && !memcmp(bytes, "PERFILE2", 8))
        return error_set(error,
                         "%s: perf's own format is not read: import what 'perf script -i %s "
                         "--show-mmap-events' prints",
                         input->path, input->path);
    *format = EXCHANGE_PERF_SCRIPT;
    for (size_t i = 0; i < size && i < LOOKED_AT; i++)
        if ((unsigned char)bytes[i] < ' ' && !strchr("\t\n\r", bytes[i] ? bytes[i] : 1))
            *format = EXCHANGE_PPROF;
    return true;
}

static int64_t in_ns(struct timespec time) {
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* Until the file tells better, it was taken when it was written. */
static void begin_session(struct import *import, const struct input *input) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    int64_t written = in_ns(S_ISREG(input->status.st_mode) ? input->status.st_mtim : now);
    import->session = (struct store_session){.kind = SESSION_IMPORTED,
                                             .name = input->path,
                                             .host = "",
                                             .kernel = "",
                                             .processor = "",
                                             .weight = 1,
                                             .start = written,
                                             .end = written};
}

/* A file of which nothing could be read may be of none of the formats. */
static bool fail_by_guess(const struct import *import, struct error *error) {
    const struct error why = *error;
    return import->records
               ? false
               : error_set(error, "%s; a store, " EXCHANGE_READ_NAMES " can be imported",
                           why.message);
}

static bool read_input(struct input *input, enum exchange_format format, struct import *import,
                       struct error *error) {
    const bool guessed = format == EXCHANGE_FORMATS;
    if (guessed && !recognise(input, &format, error))
        return false;
    begin_session(import, input);
    if (!exchange_formats[format].read)
        return error_set(error, "%s is written, not read: import " EXCHANGE_READ_NAMES,
                         exchange_format_name(format));
    return exchange_formats[format].read(input, import, error) ||
           (guessed && fail_by_guess(import, error));
}

bool exchange_import(struct store *store, const char *path, enum exchange_format format,
                     struct exchange_imported *imported, struct error *error) {
    struct import import = {0};
    struct input input;
    *imported = (struct exchange_imported){0};
    bool good = input_open(&input, path, error) && read_input(&input, format, &import, error) &&
                gathered_save(&import.gathered, store, &import.session, &imported->session, error);
    imported->records = import.records;
    imported->unknown = import.session.unknown;
    imported->unplaced = import.unplaced;
    imported->images = import.gathered.images.count;
    imported->processes = import.gathered.processes.count;
    imported->events = import.gathered.event_keys.count;
    gathered_free(&import.gathered);
    input_close(&input);
    return good;
}
