/* Files of shotgun samples with arbitrary records. The checksums of an input are made right before
 * it is read, so that what lies behind them is tested; from what comes out fragments are
 * constructed in every way, which must keep their promises. */
#include <string.h>

#include "input.h"
#include "shotgun/construct.h"
#include "shotgun/format.h"

static struct machine small_machine(void) {
    struct machine machine = {.core = {.fetch_width = 4,
                                       .taken_branches = 1,
                                       .rob = 32,
                                       .load_queue = 8,
                                       .store_queue = 8,
                                       .int_registers = 48,
                                       .issue_wakeup = 2,
                                       .fuse_compare_branch = true,
                                       .eliminate_moves = true}};
    return machine;
}

static void check_fragment(const struct shotgun_fragment *fragment, uint32_t length) {
    require(fragment != NULL && fragment->outcome < SHOTGUN_OUTCOMES);
    require(fragment->insns <= length &&
            fragment->uop_count <= (size_t)length * SHOTGUN_UOPS_PER_INSN);
    bool whole = fragment->insns == length;
    bool shortened = fragment->insns > 0 && length - fragment->insns < CONTEXT_INSNS &&
                     fragment->by_sample[fragment->insns - 1];
    require(fragment->outcome == SHOTGUN_COMPLETE ? whole || shortened : !whole);
    for (size_t i = 0; i < fragment->uop_count; i++) {
        const struct graph_uop *uop = &fragment->uops[i];
        for (int k = 0; k <= UOP_MAX_SOURCES; k++)
            require(uop->producer[k] <= i);
        require(uop->store <= i && uop->fetched_by <= i && uop->fetch_width <= i);
    }
}

static void construct(const struct shotgun_file *file, const struct machine *machine) {
    const struct shotgun_database *database = &file->database;
    struct error error;
    for (int design = SHOTGUN_ONE_SAMPLE; design <= SHOTGUN_LONG_AND_SHORT; design++) {
        struct shotgun_constructor *constructor = shotgun_constructor_new(
            database, &file->code, machine, (enum shotgun_design)design, &error);
        require(constructor != NULL);
        if (database->skeleton_count && database->sample_count)
            check_fragment(shotgun_construct(constructor, database->skeleton_count - 1),
                           database->options.length);
        shotgun_constructor_free(constructor);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint8_t *bytes = malloc(size + 1);
    require(bytes != NULL);
    memcpy(bytes, data, size);
    seal_records(bytes, size, SHOTGUN_PROLOGUE_BYTES);
    struct memory_file input = memory_file(bytes, size);
    free(bytes);

    struct error error;
    struct shotgun_file file;
    struct machine machine = small_machine();
    if (shotgun_read(input.path, &file, &error) && shotgun_code_link(&file.code, &error))
        construct(&file, &machine);
    shotgun_file_free(&file);
    close(input.fd);
    return 0;
}
