/* Trace files of arbitrary records, profiled by slices, with counts. What comes out of a profile
 * can be read again, and its sums agree. */
#include <string.h>

#include "input.h"
#include "region/bbv.h"
#include "region/bbv_profile.h"
#include "trace/file_format.h"

static char vectors[64], table_path[80], counts[64];

static void check(const struct bbv_profile_result *result) {
    struct error error;
    struct slice_table table;
    struct bbv_set set = {0};
    uint64_t sum = 0;
    require(slice_table_read(&table, table_path, &error));
    require(table.slice_count == result->slices && table.complete == result->complete);
    struct bbv_reader *reader = bbv_reader_open(vectors, &error);
    require(reader != NULL);
    while (bbv_reader_next(reader, &set, &error) > 0)
        ;
    bbv_reader_close(reader);
    require(set.slice_count == table.slice_count);
    for (size_t i = 0; i < set.slice_count; i++) {
        require(set.slices[i].instructions == table.slices[i].instructions);
        sum += table.slices[i].instructions;
    }
    require(sum == result->instructions);
    bbv_set_free(&set);
    slice_table_free(&table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint8_t *bytes = malloc(size + 1);
    require(bytes != NULL);
    memcpy(bytes, data, size);
    seal_records(bytes, size, FILE_PROLOGUE_BYTES);
    struct memory_file file = memory_file(bytes, size);
    free(bytes);
    snprintf(vectors, sizeof vectors, "/dev/shm/fuzz_bbv_profile.%d", (int)getpid());
    snprintf(table_path, sizeof table_path, "%s.slices", vectors);
    snprintf(counts, sizeof counts, "%s.csv", vectors);

    struct error error = {0};
    struct bbv_profile_result result;
    int status;
    const struct bbv_profile_options options = {
        .trace = file.path, .size = 100, .path = vectors, .counts_path = counts};
    if (bbv_profile(&options, &result, &status, &error))
        check(&result);
    else
        require(error.message[0] && !strchr(error.message, '\n'));
    bbv_profile_result_free(&result);
    unlink(vectors);
    unlink(table_path);
    unlink(counts);
    close(file.fd);
    return 0;
}
