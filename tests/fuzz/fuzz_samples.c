/* Files of samples with arbitrary records. The checksums of an input are made right before it is
 * read, so that what lies behind them is tested; each sample that comes out must keep its promises.
 */
#include <string.h>

#include "input.h"
#include "samples/format.h"

static void check_sample(const struct sample_reader *reader, const struct sample *sample) {
    uint32_t width = sample_reader_header(reader)->commit_width;
    uint8_t banks[SAMPLE_MAX_BANKS];
    unsigned count = sample_sharers(sample, width, banks);
    require(count > 0 && count <= width);
    for (unsigned i = 0; i < count; i++) {
        struct sample_place place;
        require(sample->valid >> banks[i] & 1 && sample->events[banks[i]] < PSV_COMBINATIONS);
        if (sample_reader_place(reader, sample->process, sample->address[banks[i]], &place))
            require(strlen(place.path) < SAMPLE_PAYLOAD_MAX && place.build_id_size <= 20);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint8_t *bytes = malloc(size + 1);
    require(bytes != NULL);
    memcpy(bytes, data, size);
    seal_records(bytes, size, SAMPLE_PROLOGUE_BYTES);
    struct memory_file file = memory_file(bytes, size);
    free(bytes);

    struct error error;
    struct sample sample;
    struct sample_reader *reader = sample_reader_open(file.path, &error);
    while (reader && sample_reader_next(reader, &sample, &error) > 0)
        check_sample(reader, &sample);
    sample_reader_close(reader);
    close(file.fd);
    return 0;
}
