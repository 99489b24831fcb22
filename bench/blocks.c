/* Basic blocks on this processor and on simulated machines: reads blocks of x86-64, one a line as
 * hexadecimal digits of at least its bytes, its address in its program, hexadecimal too, and its
 * number of instructions, and prints a JSON object for each, in their order:
 *
 *     blocks MACHINE... < FILE
 *     {"run": "4801d8...", "instructions": 3, "pages": 1, "copies": 100, "failure": null,
 *      "native": {"state": "measured", "cycles": 3.01, "spread": 0.02}, "zen4": {...}}
 *
 * "run": the code as it is measured, without the branch at its end (calibrate/block.h). Natively
 * each is measured eleven times, at different times, as what else a processor does slows some code
 * down for a while: the median, if the middle five lie within 5 % of it or 0.03 cycles. */
#include <ctype.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/block.h"
#include "calibrate/simulated.h"
#include "host/clock.h"
#include "host/native.h"
#include "util/array.h"

static const char *const STATES[] = {[HOST_NOT_RUN] = "not run",
                                     [HOST_MEASURED] = "measured",
                                     [HOST_UNSTABLE] = "unstable",
                                     [HOST_UNSUPPORTED] = "unsupported",
                                     [HOST_FAILED] = "failed"};

struct blocks {
    struct block *items;
    size_t count, capacity;
};

/* Of so many instructions; what cannot be decoded is left to block_read(). */
static size_t size_of(const uint8_t *bytes, size_t size, unsigned instructions) {
    ZydisDecoder decoder;
    ZydisDecodedInstruction insn;
    size_t used = 0;
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    for (; instructions && used < size; instructions--, used += insn.length)
        if (ZYAN_FAILED(
                ZydisDecoderDecodeInstruction(&decoder, NULL, bytes + used, size - used, &insn)))
            return size;
    return used;
}

static bool read_line(const char *line, uint8_t *bytes, size_t most, size_t *size,
                      uint64_t *address) {
    unsigned byte, instructions;
    int used;
    for (*size = 0; isxdigit((unsigned char)*line); line += used)
        if (*size == most || sscanf(line, "%2x%n", &byte, &used) != 1 || used != 2)
            return false;
        else
            bytes[(*size)++] = (uint8_t)byte;
    if (sscanf(line, " %" SCNx64 " %u", address, &instructions) != 2)
        return false;
    *size = size_of(bytes, *size, instructions);
    return true;
}

static bool read_blocks(struct blocks *blocks, struct error *error) {
    uint8_t bytes[2 * BLOCK_MOST_BYTES];
    char *line = NULL;
    size_t room = 0, size = 0;
    uint64_t address = 0;
    bool good = true;
    while (good && getline(&line, &room, stdin) > 0) {
        good = array_room(blocks->items, blocks->capacity, blocks->count + 1) ||
               error_set(error, "out of memory");
        if (good && !read_line(line, bytes, sizeof bytes, &size, &address))
            good = error_set(error,
                             "line %zu: not a block's bytes, address and number of instructions",
                             blocks->count + 1);
        if (good)
            block_read(&blocks->items[blocks->count++], bytes, size, address);
    }
    free(line);
    return good;
}

static json_t *result_json(const struct host_result *result) {
    const bool measured = result->state == HOST_MEASURED || result->state == HOST_UNSTABLE;
    return json_pack("{s:s, s:o, s:o, s:o}", "state", STATES[result->state], "cycles",
                     measured && isfinite(result->cycles) ? json_real(result->cycles) : json_null(),
                     "spread",
                     measured && isfinite(result->spread) ? json_real(result->spread) : json_null(),
                     "failure", result->failure[0] ? json_string(result->failure) : json_null());
}

static json_t *block_json(const struct block *block) {
    char run[2 * BLOCK_MOST_BYTES + 1] = "";
    for (size_t i = 0; i < block->size; i++)
        snprintf(run + 2 * i, 3, "%02x", block->code[i]);
    return json_pack("{s:s, s:i, s:i, s:i, s:o}", "run", run, "instructions",
                     (int)block->instructions, "pages", (int)block->page_count, "copies",
                     (int)block->copies[0], "failure",
                     block->failure[0] ? json_string(block->failure) : json_null());
}

static bool measure(const struct blocks *blocks, struct host_meter *meter, const char *name,
                    json_t **objects, struct error *error) {
    struct host_result *results = calloc(blocks->count + 1, sizeof *results);
    bool good = results || error_set(error, "out of memory");
    good = good && blocks_measure(blocks->items, blocks->count, meter, results, error);
    for (size_t i = 0; good && i < blocks->count; i++)
        json_object_set_new(objects[i], name, result_json(&results[i]));
    free(results);
    return good;
}

enum { PASSES = 11, LEFT_OUT = 3 /* on either side */ };
static const double MOST_SPREAD = 0.05, LEAST_SPREAD = 0.03;

/* Of what was measured in each pass, the i-th block's. */
static struct host_result middle(const struct host_result *passes, size_t count, size_t i) {
    double cycles[PASSES], spread;
    unsigned good = 0;
    for (unsigned pass = 0; pass < PASSES; pass++) {
        const struct host_result *result = &passes[pass * count + i];
        if (result->state == HOST_MEASURED)
            cycles[good++] = result->cycles;
        else if (result->state != HOST_UNSTABLE)
            return *result;
    }
    if (good < PASSES - 2 * LEFT_OUT)
        return (struct host_result){.state = HOST_UNSTABLE, .cycles = NAN, .spread = NAN};
    const double median = clock_median(cycles, good, &spread);
    spread = (cycles[good - 1 - LEFT_OUT] - cycles[LEFT_OUT]) / 2;
    return (struct host_result){
        .state = spread <= fmax(MOST_SPREAD * median, LEAST_SPREAD) ? HOST_MEASURED : HOST_UNSTABLE,
        .cycles = median,
        .spread = spread};
}

static bool measure_natively(const struct blocks *blocks, json_t **objects, struct error *error) {
    const struct watcher nobody = {0};
    struct host_meter native;
    struct host_result *passes = calloc(PASSES * blocks->count + 1, sizeof *passes);
    bool good = passes || error_set(error, "out of memory");
    good = good && host_native_meter(&native, true, &nobody, error);
    for (unsigned pass = 0; good && pass < PASSES; pass++)
        good = blocks_measure(blocks->items, blocks->count, &native, passes + pass * blocks->count,
                              error);
    for (size_t i = 0; good && i < blocks->count; i++) {
        const struct host_result result = middle(passes, blocks->count, i);
        json_object_set_new(objects[i], "native", result_json(&result));
    }
    free(passes);
    return good;
}

static bool measure_all(const struct blocks *blocks, char **machines, json_t **objects,
                        struct error *error) {
    const struct watcher nobody = {0};
    if (!measure_natively(blocks, objects, error))
        return false;
    for (; *machines; machines++) {
        struct machine machine;
        struct simulated_meter simulated;
        if (!machine_load(*machines, &machine, error) ||
            !simulated_meter(&simulated, &machine, true, &nobody, error) ||
            !measure(blocks, &simulated.meter, *machines, objects, error))
            return false;
    }
    return true;
}

int main(int argc, char **argv) {
    struct blocks blocks = {0};
    struct error error = {0};
    const struct watcher nobody = {0};
    (void)argc;
    json_t **objects = NULL;
    bool good =
        read_blocks(&blocks, &error) && blocks_place(blocks.items, blocks.count, &nobody, &error);
    objects = calloc(blocks.count + 1, sizeof *objects);
    for (size_t i = 0; good && objects && i < blocks.count; i++)
        objects[i] = block_json(&blocks.items[i]);
    good = good && objects && measure_all(&blocks, argv + 1, objects, &error);
    for (size_t i = 0; objects && i < blocks.count; i++) {
        if (good)
            json_dumpf(objects[i], stdout, JSON_COMPACT), putchar('\n');
        json_decref(objects[i]);
    }
    free(objects);
    free(blocks.items);
    if (!good)
        fprintf(stderr, "blocks: %s\n", error.message);
    return !good;
}
