/* Control-flow graphs of all procedures of real programs and libraries: what cfg_check.h says holds
 * of each, few have unknown jumps, and it takes little time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "cfg_check.h"
#include "program/program.h"

struct sweep {
    struct program *program;
    uint32_t image;
    enum isa isa;
    bool verbose; /* CFG_VERBOSE: names the procedures with unknown jumps */
    /* Counts. */
    unsigned long procedures, failed, bytes, insns, blocks, edges, lost;
    unsigned long indirect, tables, tails, unresolved, flagged[6];
    uint64_t nanoseconds;
};

static bool read_image(void *context, uint64_t address, void *bytes, size_t size) {
    struct sweep *sweep = context;
    return program_read(sweep->program, sweep->image, address, bytes, size);
}

static const char *name_at(void *context, uint64_t address) {
    struct sweep *sweep = context;
    struct location location;
    uint64_t offset;
    return program_address_to_offset(sweep->program, sweep->image, address, &offset) &&
                   program_locate_function(sweep->program, sweep->image, offset, &location) &&
                   location.function_offset == offset
               ? location.function
               : NULL;
}

static void count_jumps(struct sweep *sweep, const struct cfg *cfg) {
    for (uint32_t b = 0; b < cfg->block_count; b++) {
        const struct cfg_block *block = &cfg->blocks[b];
        if (cfg_last(cfg, block)->insn.branch != BRANCH_INDIRECT)
            continue;
        unsigned kind = cfg->edges[block->first_out].kind;
        sweep->indirect++;
        sweep->tables += kind == EDGE_TABLE;
        sweep->tails += kind == EDGE_TAIL;
    }
    sweep->tails -= cfg->unresolved;
    sweep->unresolved += cfg->unresolved;
}

static bool visit(void *context, const struct program_function *function) {
    struct sweep *sweep = context;
    uint8_t *bytes = malloc(function->size);
    assert_non_null(bytes);
    if (!program_read(sweep->program, sweep->image, function->address, bytes, function->size)) {
        free(bytes);
        return true;
    }
    struct procedure_code code = {sweep->isa, bytes,   function->size, function->address,
                                  read_image, name_at, sweep};
    struct cfg cfg;
    struct error error = {""};
    struct timespec start, end;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
    bool done = cfg_build(&cfg, &code, &error);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
    sweep->nanoseconds += (uint64_t)(end.tv_sec - start.tv_sec) * 1000000000u +
                          (uint64_t)end.tv_nsec - (uint64_t)start.tv_nsec;
    sweep->procedures++;
    sweep->bytes += function->size;
    if (done) {
        const char *problem = cfg_problem(&cfg);
        if (problem)
            fail_msg("%s at 0x%lx: %s", function->name ? function->name : "?",
                     (unsigned long)function->address, problem);
        sweep->insns += cfg.insn_count;
        sweep->blocks += cfg.block_count;
        sweep->edges += cfg.edge_count;
        for (unsigned i = 0; i < 6; i++)
            sweep->flagged[i] += cfg.flags >> i & 1;
        count_jumps(sweep, &cfg);
        if (sweep->verbose && cfg.flags)
            print_message("  %-40s 0x%lx+%lx flags %x unresolved %u\n",
                          function->name ? function->name : "?", (unsigned long)function->address,
                          (unsigned long)function->size, cfg.flags, cfg.unresolved);
    } else {
        sweep->failed++;
        if (sweep->verbose)
            print_message("  %s: %s\n", function->name ? function->name : "?", error.message);
    }
    cfg_free(&cfg);
    free(bytes);
    return true;
}

static struct sweep sweep_image(const char *path, enum isa isa) {
    struct sweep sweep = {.program = program_new(), .isa = isa, .verbose = getenv("CFG_VERBOSE")};
    assert_non_null(sweep.program);
    if (access(path, R_OK) != 0) {
        print_message("%s is not installed\n", path);
        program_free(sweep.program);
        skip();
    }
    sweep.image = program_add_image(sweep.program, path, NULL, 0);
    program_each_function(sweep.program, sweep.image, visit, &sweep);
    program_free(sweep.program);
    print_message("%s: %lu procedures (%lu without code), %lu instructions, %lu blocks, %lu edges "
                  "in %.2f s\n  missing edges %lu, overlapping %lu, undecodable %lu, runs out %lu, "
                  "unreached %lu, endless %lu\n  indirect jumps: %lu by tables, %lu tail calls, "
                  "%lu unknown of %lu\n",
                  path, sweep.procedures, sweep.failed, sweep.insns, sweep.blocks, sweep.edges,
                  (double)sweep.nanoseconds / 1e9, sweep.flagged[0], sweep.flagged[1],
                  sweep.flagged[2], sweep.flagged[3], sweep.flagged[4], sweep.flagged[5],
                  sweep.tables, sweep.tails, sweep.unresolved, sweep.indirect);
    return sweep;
}

static void check_sweep(const char *path, enum isa isa) {
    struct sweep sweep = sweep_image(path, isa);
    assert_true(sweep.procedures > 1000 && sweep.insns > 100000);
    assert_true(sweep.failed * 100 <= sweep.procedures);
    assert_true(sweep.nanoseconds < 10000000000u);
}

static void c_library_x86_64(void **state) {
    (void)state;
    check_sweep("/lib/x86_64-linux-gnu/libc.so.6", ISA_X86_64);
}

static void sqlite_x86_64(void **state) {
    (void)state;
    check_sweep("/usr/lib/x86_64-linux-gnu/libsqlite3.so.0", ISA_X86_64);
}

static void c_library_riscv64(void **state) {
    (void)state;
    check_sweep("/usr/riscv64-linux-gnu/lib/libc.so.6", ISA_RISCV64);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(c_library_x86_64),
        cmocka_unit_test(sqlite_x86_64),
        cmocka_unit_test(c_library_riscv64),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
