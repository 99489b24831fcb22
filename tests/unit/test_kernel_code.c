/* Code of the kernel from its memory: a hand-made /proc/kcore. */
#include "store_fixture.h"

#include <elf.h>

#include "live/kernel_code.h"
#include "live/kernel_memory.h"
#include "live_tree.h"
#include "report/annotated.h"

#define START UINT64_C(0xffffffff81000000)

/* loop: dec %ecx; jne loop; ret */
static const uint8_t WAIT[] = {0xff, 0xc9, 0x75, 0xfc, 0xc3};
static const char KALLSYMS[] = "ffffffff81000000 T _stext\n"
                               "ffffffff81000040 T wait_a_while\n"
                               "ffffffff81000050 T behind\n"
                               "ffffffff81000100 T _etext\n"
                               "ffffffffc0010040 t ext4_read\t[ext4]\n";
static const char NOTE[] = "\4\0\0\0\3\0\0\0\3\0\0\0GNU\0abc";
static const uint8_t BUILD[] = {'a', 'b', 'c'};

/* Two segments of the kernel's text that follow each other at its addresses, not in the file; a
 * third that wraps; a fourth that claims more than the file has. */
struct core {
    Elf64_Ehdr header;
    Elf64_Phdr segments[4];
    uint8_t second[0x100 - 0x42], first[0x42];
};

static struct core make_core(void) {
    struct core core = {
        .header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB},
                   .e_type = ET_CORE,
                   .e_machine = EM_X86_64,
                   .e_phoff = offsetof(struct core, segments),
                   .e_phentsize = sizeof(Elf64_Phdr),
                   .e_phnum = 4},
        .segments = {{.p_type = PT_LOAD,
                      .p_vaddr = START,
                      .p_offset = offsetof(struct core, first),
                      .p_filesz = sizeof core.first},
                     {.p_type = PT_LOAD,
                      .p_vaddr = START + sizeof core.first,
                      .p_offset = offsetof(struct core, second),
                      .p_filesz = sizeof core.second},
                     {.p_type = PT_LOAD, .p_vaddr = 0x1000, .p_filesz = UINT64_MAX},
                     {.p_type = PT_LOAD, .p_vaddr = 0x9000, .p_filesz = 0x10000}}};
    memcpy(core.first + 0x40, WAIT, 2);
    memcpy(core.second, WAIT + 2, sizeof WAIT - 2);
    return core;
}

struct machine_tree {
    struct live_tree tree;
    struct fixture *fixture;
};

static void write_core(const struct live_tree *tree, const struct core *core) {
    live_tree_write(live_tree_path(tree, "proc/kcore"), core, sizeof *core);
}

static int set_up(void **state) {
    struct machine_tree *made = calloc(1, sizeof *made);
    struct core core = make_core();
    fixture_setup((void **)&made->fixture);
    live_tree_make(&made->tree);
    live_tree_text(live_tree_path(&made->tree, "proc/kallsyms"), KALLSYMS);
    live_tree_text(live_tree_path(&made->tree, "proc/modules"),
                   "ext4 4096 1 - Live 0xffffffffc0010000\n");
    live_tree_write(live_tree_path(&made->tree, "sys/kernel/notes"), NOTE, sizeof NOTE);
    live_tree_write(live_tree_path(&made->tree, "sys/module/ext4/notes/.note.gnu.build-id"), NOTE,
                    sizeof NOTE);
    write_core(&made->tree, &core);
    *state = made;
    return 0;
}

static int tear_down(void **state) {
    struct machine_tree *made = *state;
    live_tree_remove(made->tree.root);
    fixture_teardown((void **)&made->fixture);
    free(made);
    return 0;
}

static void memory_is_read_across_segments(void **state) {
    struct machine_tree *made = *state;
    struct error error;
    uint8_t bytes[sizeof WAIT];
    struct kernel_memory *memory = kernel_memory_open(&made->tree.roots, &error);
    assert_non_null(memory);
    assert_int_equal(kernel_memory_isa(memory), ISA_X86_64);
    assert_true(kernel_memory_read(memory, START + 0x40, bytes, sizeof bytes));
    assert_memory_equal(bytes, WAIT, sizeof WAIT);
    assert_false(kernel_memory_read(memory, START + 0xfe, bytes, sizeof bytes)); /* too long */
    assert_false(kernel_memory_read(memory, START - 1, bytes, 1));
    assert_false(kernel_memory_read(memory, 0x1000, bytes, 1));
    assert_false(kernel_memory_read(memory, 0x9800, bytes, 1)); /* behind the end of the file */
    kernel_memory_free(memory);
}

static void refuses(struct machine_tree *made, const struct core *core, const char *why) {
    if (core)
        write_core(&made->tree, core);
    FAILS(why, kernel_memory_open(&made->tree.roots, &error));
}

static void what_is_no_core_is_refused(void **state) {
    struct machine_tree *made = *state;
    struct core core = make_core();
    core.header.e_type = ET_EXEC;
    refuses(made, &core, "no core file");
    core = make_core();
    core.header.e_phentsize = 1;
    refuses(made, &core, "no core file");
    core = make_core();
    core.header.e_machine = EM_S390;
    refuses(made, &core, "of a processor whose code is not known");
    live_tree_text(live_tree_path(&made->tree, "proc/kcore"), "");
    refuses(made, NULL, "no core file");
    remove(live_tree_path(&made->tree, "proc/kcore"));
    refuses(made, NULL, "this system has no");
}

/* Headers that lie nowhere: nothing is to be read, and nothing breaks. */
static void absurd_headers(void **state) {
    struct machine_tree *made = *state;
    struct core core = make_core();
    struct error error;
    uint8_t byte;
    core.header.e_phoff = UINT64_MAX - 8;
    core.header.e_phnum = UINT16_MAX;
    write_core(&made->tree, &core);
    struct kernel_memory *memory = kernel_memory_open(&made->tree.roots, &error);
    assert_non_null(memory);
    assert_false(kernel_memory_read(memory, START, &byte, 1));
    kernel_memory_free(memory);
}

static uint32_t add_code(struct machine_tree *made, struct program *program, const char *name,
                         const uint8_t *build_id, size_t size, struct error *error) {
    struct kernel_map map;
    assert_true(kernel_map_read(&made->tree.roots, &map));
    uint32_t number =
        kernel_code_add(program, &made->tree.roots, &map, name, build_id, size, error);
    kernel_map_free(&map);
    return number;
}

static void its_procedures_are_known(void **state) {
    struct machine_tree *made = *state;
    struct error error;
    struct location location;
    uint64_t offset, size, address;
    uint8_t bytes[sizeof WAIT];
    struct program *program = program_new();
    uint32_t kernel = add_code(made, program, "[kernel]", BUILD, 3, &error);
    assert_int_equal(kernel, 0);
    assert_int_equal(add_code(made, program, "[kernel]", BUILD, 3, &error), 0);
    assert_true(program_find_function(program, kernel, "wait_a_while", &offset, &size));
    assert_int_equal(offset, 0x40);
    assert_int_equal(size, 0x10);
    assert_true(program_locate(program, kernel, 0x4f, &location));
    assert_string_equal(location.function, "wait_a_while");
    assert_int_equal(location.function_rest, 1);
    assert_null(location.file);
    assert_true(program_offset_to_address(program, kernel, 0x40, &address));
    assert_true(address == START + 0x40);
    assert_true(program_read(program, kernel, address, bytes, sizeof bytes));
    assert_memory_equal(bytes, WAIT, sizeof WAIT);
    assert_null(program_image_note(program, kernel));
    assert_false(program_image_is_stripped(program, kernel));
    assert_string_equal(program_image_name(program, kernel), "[kernel]");
    program_free(program);
}

#define REFUSES(text, name, build, size)                                                           \
    FAILS(text, add_code(made, program, name, (const uint8_t *)build, size, &error) != UINT32_MAX)

static void what_is_missing_is_said(void **state) {
    struct machine_tree *made = *state;
    struct program *program = program_new();
    REFUSES("[kernel] was sampled in another build", "[kernel]", "abd", 3);
    REFUSES("[kernel] was sampled in another build", "[kernel]", "abcd", 4);
    REFUSES("[kernel]: its code has no build id", "[kernel]", NULL, 0);
    REFUSES("[xfs] is not in the kernel", "[xfs]", "abc", 3);
    remove(live_tree_path(&made->tree, "proc/kcore"));
    REFUSES("[ext4]: the kernel's code is in no file: this system has no", "[ext4]", "abc", 3);
    live_tree_text(live_tree_path(&made->tree, "proc/kallsyms"), "0000000000000000 T _stext\n");
    REFUSES("[kernel]: where its code lies is hidden", "[kernel]", "abc", 3);
    program_free(program);
}

/* 90 samples of the branch and 10 of the return, from the store to the annotation. */
static void a_procedure_is_annotated(void **state) {
    struct machine_tree *made = *state;
    struct store *store = made->fixture->store;
    const int64_t session = add_session(store, "test", 1000000000, 2000000000);
    const int64_t process = add_process(store, session, "test");
    /* Precise: no sample is late. */
    const struct store_event sampled = {.name = "cycles",
                                        .unit = "samples",
                                        .period = 62000,
                                        .period_unit = "cycles",
                                        .precise = true};
    int64_t event = 0;
    struct store_image kernel = {.kind = IMAGE_KERNEL,
                                 .path = "[kernel]",
                                 .root = "",
                                 .build_id = {'a', 'b', 'c'},
                                 .build_id_size = 3};
    const struct code_symbol symbol = {0x40, 0x10, "wait_a_while"};
    const struct store_value values[] = {{.offset = 0x42, .value = 90},
                                         {.offset = 0x44, .value = 10}};
    int64_t image;
    struct profile_set set;
    struct procedure_choices choices;
    struct annotated annotated;
    struct annotate_settings settings = {.set = &set, .machines = {.asked = "zen4"}};
    const struct procedure_query query = {.text = "wait_a_while", .roots = &made->tree.roots};
    GOOD(store_add_event(store, session, &sampled, &event, &error));
    GOOD(store_image(store, &kernel, &image, &error));
    GOOD(store_set_symbols(store, image, &symbol, 1, &error));
    GOOD(store_add_values(store, session, process, image, event, values, 2, &error));
    GOOD(profile_set_read(&set, store, &session, 1, false, &error));
    settings.program = program_new();
    settings.event = &set.events[0];
    GOOD(procedure_choose(&choices, &set, &set.events[0], &query, settings.program, &error));
    assert_int_equal(choices.count, 1);
    GOOD(annotate(&annotated, &settings, &choices.items[0], &error));
    assert_true(annotated.code.address == START + 0x40);
    const struct cfg *graph = &annotated.analysis.cfg;
    assert_int_equal(graph->insn_count, 3);
    assert_int_equal(graph->block_count, 2);
    assert_true(annotated.analysis.cycles[1] == 9 * annotated.analysis.cycles[2]);
    assert_true(annotated.analysis.cycles[2] > 0);
    assert_int_equal(annotated.analysis.lost, 0);
    annotated_free(&annotated);
    annotate_settings_free(&settings);
    procedure_choices_free(&choices);
    program_free(settings.program);
    profile_set_free(&set);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {TEST(memory_is_read_across_segments),
                                       TEST(what_is_no_core_is_refused),
                                       TEST(absurd_headers),
                                       TEST(its_procedures_are_known),
                                       TEST(what_is_missing_is_said),
                                       TEST(a_procedure_is_annotated)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
