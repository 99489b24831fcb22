#include "study/slice_files.h"

#include <stdlib.h>

#include "region/slices.h"

static bool take_ends(struct slices *slices, const struct slice_table *table, struct error *error) {
    struct slice_end *ends = malloc((table->slice_count ? table->slice_count : 1) * sizeof *ends);
    if (!ends)
        return error_set(error, "out of memory for slices");
    for (size_t i = 0; i < table->slice_count; i++)
        ends[i] = (struct slice_end){table->slices[i].thread,
                                     table->slices[i].first + table->slices[i].instructions};
    slices->ends = ends;
    slices->slicing =
        (struct slicing){.ends = ends, .end_count = slice_ends_sort(ends, table->slice_count)};
    return true;
}

static bool read_ends(struct slices *slices, const char *path, struct error *error) {
    struct slice_table table = {0};
    bool good = slice_table_read(&table, path, error) && take_ends(slices, &table, error);
    slice_table_free(&table);
    return good;
}

bool slices_open(struct slices *slices, const struct slices_request *request, struct error *error) {
    if (!request->path)
        return true;
    if (request->like) {
        if (!read_ends(slices, request->like, error))
            return false;
    } else {
        slices->slicing.size = request->size ? request->size : SLICES_DEFAULT_SIZE;
    }
    return output_open(&slices->file, "--slices", request->path, NULL, error);
}

bool slices_write(struct slices *slices, const struct slice_record *records, size_t count,
                  struct error *error) {
    if (!slices->file.file)
        return true;
    slice_records_write(records, count, slices->file.file);
    return output_close(&slices->file, error);
}

void slices_discard(struct slices *slices) {
    free(slices->ends);
    slices->ends = NULL;
    output_discard(&slices->file);
}
