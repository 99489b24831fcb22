/* Control-flow graphs of all procedures of real programs and libraries: what cfg_check.h says holds
 * of each, few have unknown jumps, instructions and blocks begin where objdump has them, and fewer
 * questions are asked than there are edges. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "analyze/padding.h"
#include "cfg_check.h"
#include "program/program.h"
#include "util/array.h"

/* What objdump says of an image: where instructions begin, and its direct jumps. */
struct jump {
    uint64_t from, to;
};
struct listing {
    uint64_t *insns; /* addresses, ascending */
    struct jump *jumps;
    size_t insn_count, insn_capacity, jump_count, jump_capacity;
};

struct sweep {
    struct program *program;
    uint32_t image;
    enum isa isa;
    bool verbose;           /* CFG_VERBOSE: names the procedures with flags */
    struct listing listing; /* empty: not compared */
    /* Counts. */
    unsigned long procedures, failed, bytes, insns, blocks, edges;
    unsigned long indirect, tables, tails, unresolved, compared, lost, flagged[6];
    unsigned long asked; /* for bytes beyond the procedure, for names */
};

static bool read_image(void *context, uint64_t address, void *bytes, size_t size) {
    struct sweep *sweep = context;
    sweep->asked++;
    return program_read(sweep->program, sweep->image, address, bytes, size);
}

static const char *name_at(void *context, uint64_t address) {
    struct sweep *sweep = context;
    sweep->asked++;
    struct location location;
    uint64_t offset;
    return program_address_to_offset(sweep->program, sweep->image, address, &offset) &&
                   program_locate_function(sweep->program, sweep->image, offset, &location) &&
                   location.function_offset == offset
               ? location.function
               : NULL;
}

/* Lines of objdump: "   2a3b0:\tjne    2a3c8 <name+0x18>" */
static void read_listing(struct listing *listing, const char *path) {
    char command[256], line[512], name[32];
    snprintf(command, sizeof command, "objdump -d -w --no-show-raw-insn %s 2>/dev/null", path);
    FILE *objdump = popen(command, "r");
    assert_non_null(objdump);
    while (fgets(line, sizeof line, objdump)) {
        uint64_t from, to;
        int used = 0;
        if (sscanf(line, " %" SCNx64 ":\t%n", &from, &used) != 1 || used == 0)
            continue;
        assert_true(array_reserve((void **)&listing->insns, &listing->insn_capacity,
                                  listing->insn_count + 1, sizeof *listing->insns));
        listing->insns[listing->insn_count++] = from;
        if (line[used] != 'j' || sscanf(line + used, "%31s %" SCNx64 " <", name, &to) != 2)
            continue;
        assert_true(array_reserve((void **)&listing->jumps, &listing->jump_capacity,
                                  listing->jump_count + 1, sizeof *listing->jumps));
        listing->jumps[listing->jump_count++] = (struct jump){from, to};
    }
    pclose(objdump);
}

static int compare_addresses(const void *left, const void *right) {
    const uint64_t *a = left, *b = right;
    return *a < *b ? -1 : *a > *b;
}

/* Instructions begin where objdump has them begin, and a block begins where a jump leads. Counts
 * the instructions that the graph lacks and that are no padding. */
static void compare_with_listing(struct sweep *sweep, const struct cfg *cfg, const char *name) {
    const struct listing *listing = &sweep->listing;
    uint64_t start = cfg->code->address, end = start + cfg->code->size;
    for (uint32_t i = 0; i < cfg->insn_count && !(cfg->flags & CFG_OVERLAPPING); i++) {
        uint64_t address = start + cfg->insns[i].offset;
        if (!bsearch(&address, listing->insns, listing->insn_count, sizeof address,
                     compare_addresses))
            fail_msg("%s: no instruction at 0x%" PRIx64, name, address);
    }
    for (size_t i = 0; i < listing->insn_count; i++) {
        uint64_t offset = listing->insns[i] - start;
        if (offset < cfg->code->size && cfg_insn_at(cfg, (uint32_t)offset) == CFG_NONE &&
            padding_size(cfg->code->isa, cfg->code->bytes + offset, cfg->code->size - offset) == 0)
            sweep->lost++;
    }
    for (size_t i = 0; i < listing->jump_count; i++) {
        const struct jump *jump = &listing->jumps[i];
        if (jump->from < start || jump->from >= end || jump->to < start || jump->to >= end ||
            cfg_insn_at(cfg, (uint32_t)(jump->from - start)) == CFG_NONE)
            continue;
        uint32_t to = cfg_insn_at(cfg, (uint32_t)(jump->to - start));
        if (to == CFG_NONE || cfg->blocks[cfg->insns[to].block].first_insn != to)
            fail_msg("%s: no block at 0x%" PRIx64, name, jump->to);
        sweep->compared++;
    }
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
    struct error error = {0};
    bool done = cfg_build(&cfg, &code, &error);
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
        if (sweep->listing.insn_count > 0)
            compare_with_listing(sweep, &cfg, function->name ? function->name : "?");
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

static struct sweep sweep_image(const char *path, enum isa isa, bool compare) {
    struct sweep sweep = {.program = program_new(), .isa = isa, .verbose = getenv("CFG_VERBOSE")};
    assert_non_null(sweep.program);
    if (access(path, R_OK) != 0) {
        print_message("%s is not installed\n", path);
        program_free(sweep.program);
        skip();
    }
    if (compare)
        read_listing(&sweep.listing, path);
    sweep.image = program_add_image(sweep.program, path, NULL, 0);
    program_each_function(sweep.program, sweep.image, visit, &sweep);
    program_free(sweep.program);
    free(sweep.listing.insns);
    free(sweep.listing.jumps);
    print_message(
        "%s: %lu procedures (%lu without code), %lu instructions, %lu blocks, %lu edges, "
        "%lu questions\n  missing edges %lu, overlapping %lu, undecodable %lu, runs out %lu, "
        "unreached %lu, endless %lu\n  indirect jumps: %lu by tables, %lu tail calls, "
        "%lu unknown of %lu\n",
        path, sweep.procedures, sweep.failed, sweep.insns, sweep.blocks, sweep.edges, sweep.asked,
        sweep.flagged[0], sweep.flagged[1], sweep.flagged[2], sweep.flagged[3], sweep.flagged[4],
        sweep.flagged[5], sweep.tables, sweep.tails, sweep.unresolved, sweep.indirect);
    if (compare)
        print_message("  %lu direct jumps as objdump has them; %lu instructions not found\n",
                      sweep.compared, sweep.lost);
    return sweep;
}

/* All but `unknown` of its indirect jumps are told. */
static void check_sweep(const char *path, enum isa isa, unsigned unknown, bool compare) {
    struct sweep sweep = sweep_image(path, isa, compare);
    assert_true(sweep.procedures > 1000 && sweep.insns > 100000);
    assert_true(sweep.failed * 100 <= sweep.procedures);
    assert_true(sweep.unresolved <= unknown);
    assert_true(sweep.asked < sweep.edges);
    assert_true(!compare || (sweep.compared > 1000 && sweep.lost * 1000 < sweep.insns));
}

static void c_library_x86_64(void **state) {
    (void)state;
    check_sweep("/lib/x86_64-linux-gnu/libc.so.6", ISA_X86_64, 100, false);
}

static void sqlite_x86_64(void **state) {
    (void)state;
    check_sweep("/usr/lib/x86_64-linux-gnu/libsqlite3.so.0", ISA_X86_64, 5, true);
}

static void c_library_riscv64(void **state) {
    (void)state;
    check_sweep("/usr/riscv64-linux-gnu/lib/libc.so.6", ISA_RISCV64, 5, false);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(c_library_x86_64),
        cmocka_unit_test(sqlite_x86_64),
        cmocka_unit_test(c_library_riscv64),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
