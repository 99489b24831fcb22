/* What waits is sorted by thread at the end; of one thread it came in its order. */
#include "region/slice_files.h"

#include <stdlib.h>
#include <time.h>

#include "util/array.h"
#include "util/order.h"

bool slice_files_open(struct slice_files *files, const char *vectors, const char *table,
                      enum isa isa, const char *command, uint64_t size, struct error *error) {
    *files = (struct slice_files){0};
    return bbv_writer_open(&files->vectors, vectors, bbv_path_compressed(vectors), error) &&
           slice_writer_open(&files->table, table, isa, command, size, error);
}

static bool write_slice(struct slice_files *files, const struct slice_place *place,
                        const struct slice_entry *entries, size_t count, struct error *error) {
    if (!bbv_writer_begin(&files->vectors, error))
        return false;
    return all_where(
               i, count,
               bbv_writer_block(&files->vectors, entries[i].id, entries[i].instructions, error)) &&
           bbv_writer_end(&files->vectors, error) &&
           slice_writer_slice(&files->table, place, error);
}

/* Whoever dies leaves what he had a second before. */
static bool flush_now_and_then(struct slice_files *files, struct error *error) {
    time_t now = time(NULL);
    if (now == files->flushed || files->vectors.gzip)
        return true;
    files->flushed = now;
    return stream_flush(&files->vectors.stream, error) && stream_flush(&files->table.stream, error);
}

bool slice_files_put(struct slice_files *files, const struct slice_place *place,
                     const struct slice_entry *entries, size_t count, struct error *error) {
    if (place->thread == 0)
        return write_slice(files, place, entries, count, error) && flush_now_and_then(files, error);
    if (!files->temporary && !(files->temporary = tmpfile()))
        return error_errno(error, "cannot make a temporary file");
    if (!array_push(files->waiting, files->waiting_capacity, files->waiting_count,
                    (struct waiting_slice){*place, files->temporary_entries, count}))
        return error_set(error, "out of memory for the profile");
    files->temporary_entries += count;
    return fwrite(entries, sizeof *entries, count, files->temporary) == count ||
           error_errno(error, "cannot write a temporary file");
}

ORDER(compare_waiting, struct waiting_slice,
      ascending(a->place.thread, b->place.thread) ?: ascending(a->at, b->at))

static bool write_waiting(struct slice_files *files, struct error *error) {
    if (files->waiting_count)
        qsort(files->waiting, files->waiting_count, sizeof *files->waiting, compare_waiting);
    for (size_t i = 0; i < files->waiting_count; i++) {
        const struct waiting_slice *slice = files->waiting + i;
        if (!array_room(files->entries, files->entry_capacity, slice->count))
            return error_set(error, "out of memory for the profile");
        if (fseeko(files->temporary, (off_t)(slice->at * sizeof *files->entries), SEEK_SET) != 0 ||
            fread(files->entries, sizeof *files->entries, slice->count, files->temporary) !=
                slice->count)
            return error_errno(error, "cannot read a temporary file");
        if (!write_slice(files, &slice->place, files->entries, slice->count, error))
            return false;
    }
    return true;
}

bool slice_files_close(struct slice_files *files, bool complete, struct error *error) {
    struct error ignored;
    bool good = !files->waiting_count || write_waiting(files, error);
    if (files->vectors.stream.buffer || files->vectors.gzip)
        good &= bbv_writer_close(&files->vectors, good ? error : &ignored);
    good &= slice_writer_close(&files->table, complete && good, good ? error : &ignored);
    if (files->temporary)
        fclose(files->temporary);
    free(files->waiting);
    free(files->entries);
    *files = (struct slice_files){0};
    return good;
}
