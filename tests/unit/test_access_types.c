/* Which fields the loads and stores of small functions access, against what their source says: as
 * gcc and clang compile it, with and without optimisation, with DWARF 4 and 5. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/access_types.h"
#include "analyze/access_value.h"
#include "analyze/cfg.h"
#include "program/elf_image.h"
#include "program/program.h"
#include "program/types.h"
#include "temporary.h"
#include "util/array.h"

enum { NAMES_MOST = 64, NAME_BYTES = 256 };

static char directory[TEMPORARY_BYTES];

__attribute__((format(printf, 1, 2))) static bool run(const char *format, ...) {
    char command[1024];
    int length = snprintf(command, sizeof command, "cd %s && ", directory);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(command + length, sizeof command - (size_t)length, format, arguments);
    va_end(arguments);
    return system(command) == 0;
}

static void write_file(const char *name, const void *bytes, size_t size) {
    char path[TEMPORARY_BYTES + 64];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* ---- what a function accesses ---- */

struct found {
    char names[NAMES_MOST][NAME_BYTES]; /* each once, sorted */
    unsigned count;
    unsigned unknown; /* accesses without a field, but those of the stack */
};

static void add_name(struct found *found, const char *name) {
    unsigned at = 0;
    while (at < found->count && strcmp(found->names[at], name) < 0)
        at++;
    if (at < found->count && !strcmp(found->names[at], name))
        return;
    assert_true(found->count < NAMES_MOST);
    memmove(found->names[at + 1], found->names[at], (found->count - at) * NAME_BYTES);
    snprintf(found->names[at], NAME_BYTES, "%s", name);
    found->count++;
}

static void add_access(struct types *types, const struct accessed *accessed, struct found *found) {
    struct type_field field;
    char name[NAME_BYTES + FIELD_PATH_BYTES];
    if (accessed->reason == ACCESS_NONE || accessed->reason == ACCESS_STACK)
        return;
    if (accessed->reason != ACCESS_KNOWN ||
        !type_find_field(types, accessed->type, accessed->offset, accessed->stride,
                         accessed->size_bytes, &field)) {
        found->unknown++;
        return;
    }
    snprintf(name, sizeof name, "%s.%s@%u", type_at(types, accessed->type)->name, field.path,
             (unsigned)field.offset);
    name[NAME_BYTES - 1] = 0;
    add_name(found, name);
}

struct reader {
    struct program *program;
    uint32_t image;
};
static bool read_image(void *context, uint64_t address, void *bytes, size_t size) {
    const struct reader *reader = context;
    return program_read(reader->program, reader->image, address, bytes, size);
}

static void look_at(struct reader *reader, uint64_t offset, uint64_t size, struct found *found) {
    uint64_t address;
    struct types *types = program_types(reader->program, reader->image);
    uint8_t *bytes = malloc(size + 1);
    struct cfg cfg = {0};
    struct error error;
    enum isa isa = ISA_X86_64;
    memset(found, 0, sizeof *found);
    program_image_isa(reader->program, reader->image, &isa);
    if (types && program_offset_to_address(reader->program, reader->image, offset, &address) &&
        read_image(reader, address, bytes, size)) {
        const struct procedure_code code = {.isa = isa,
                                            .bytes = bytes,
                                            .size = size,
                                            .address = address,
                                            .read = read_image,
                                            .context = reader};
        if (cfg_build(&cfg, &code, &error)) {
            struct accessed *accessed = calloc(cfg.insn_count + 1, sizeof *accessed);
            assert_true(access_types_find(&cfg, types, accessed));
            for (uint32_t i = 0; i < cfg.insn_count; i++)
                add_access(types, &accessed[i], found);
            free(accessed);
        }
        cfg_free(&cfg);
    }
    free(bytes);
}

static struct reader open_file(const char *name) {
    char path[TEMPORARY_BYTES + 64];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    struct reader reader = {.program = program_new_local()};
    reader.image = program_add_image(reader.program, path, NULL, 0);
    return reader;
}

/* `expected`: names with a blank between them, in their order. */
static void check(struct reader *reader, const char *function, const char *expected) {
    struct found found;
    uint64_t offset, size;
    char all[NAMES_MOST * NAME_BYTES] = "";
    assert_true(program_find_function(reader->program, reader->image, function, &offset, &size));
    look_at(reader, offset, size, &found);
    for (unsigned i = 0; i < found.count; i++)
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", i ? "; " : "",
                 found.names[i]);
    if (strcmp(all, expected) || found.unknown)
        fail_msg("%s: %s, and %u unknown; expected %s", function, all, found.unknown, expected);
}

/* ---- C ---- */

static const char C_SAMPLE[] =
    "typedef struct { int low, high; } range;\n"
    "struct node { long key; struct node *next; range range; int table[6]; };\n"
    "struct bits { unsigned long all; unsigned one : 3, two : 7; char more; };\n"
    "union either { struct { int kind; long number; } n; struct { int kind; float real; } r; };\n"
    "struct tail { unsigned count; struct node nodes[]; };\n"
    "struct holder { struct node *first; struct node *(*get)(void); union either either; };\n"
    "struct node pool[100];\n"
    "static struct holder one;\n"
    "struct node *make(long key);\n"
    "#define APART __attribute__((noinline, noclone))\n"
    "APART long walk(const struct node *node) {\n"
    "    long sum = 0;\n"
    "    for (; node; node = node->next)\n"
    "        sum += node->key;\n"
    "    return sum;\n"
    "}\n"
    "APART int nested(struct node *node) { return node->range.high; }\n"
    "APART int indexed(struct node *node, unsigned i) { return node->table[i]; }\n"
    "APART void element(struct node *nodes, long i) { nodes[i].range.low = 3; }\n"
    "APART long global(long i) { return pool[i].key; }\n"
    "APART int bit_field(struct bits *bits) { return bits->two; }\n"
    "APART double united(union either *e) { return e->r.real; }\n"
    "APART long behind(struct tail *tail, long i) { return tail->nodes[i].key; }\n"
    "APART long returned(long key) { return make(key)->key; }\n"
    "APART long by_pointer(struct holder *h) { return h->get()->key; }\n"
    "APART long twice(void) { return one.first->next->key; }\n"
    "static inline __attribute__((always_inline)) struct node *skip(struct node *n) { return "
    "n->next->next; }\n"
    "APART long inlined(struct node *n) { return skip(n)->range.low; }\n"
    "APART long pick(struct node *a, struct node *b, int which) {\n"
    "    struct node *n = which ? a : b;\n"
    "    return n->key;\n"
    "}\n"
    "APART long spilled(struct node *n, struct holder *h) {\n"
    "    long before = make(1) != 0;\n"
    "    h->get();\n"
    "    return before + n->key + h->first->key;\n"
    "}\n"
    "APART long scan(struct node *from, struct node *to) {\n"
    "    long sum = 0;\n"
    "    for (; from != to; from++)\n"
    "        sum += from->range.high;\n"
    "    return sum;\n"
    "}\n"
    "APART struct node *make(long key) { pool[key].key = key; one.first = pool; return pool + key; "
    "}\n"
    "int main(int argc, char **argv) {\n"
    "    (void)argv;\n"
    "    struct node *n = make(argc);\n"
    "    struct bits bits = {0};\n"
    "    union either e = {0};\n"
    "    return (int)(walk(n) + nested(n) + indexed(n, 1) + global(2) + bit_field(&bits) +\n"
    "                 (long)united(&e) + behind((struct tail *)n, 0) + returned(3) +\n"
    "                 by_pointer(&one) + twice() + inlined(n) + pick(n, pool, argc) +\n"
    "                 spilled(n, &one) + scan(n, n + 1)) + (element(n, 1), 0);\n"
    "}\n";

static void check_c(struct reader *reader) {
    check(reader, "walk", "struct node.key@0; struct node.next@8");
    check(reader, "nested", "struct node.range.high@20");
    check(reader, "indexed", "struct node.table[]@24");
    check(reader, "element", "struct node.range.low@16");
    check(reader, "global", "struct node.key@0");
    check(reader, "united", "union either.r.real@4");
    check(reader, "behind", "struct tail.nodes[].key@8");
    check(reader, "returned", "struct node.key@0");
    check(reader, "by_pointer", "struct holder.get@8; struct node.key@0");
    check(reader, "twice", "struct holder.first@0; struct node.key@0; struct node.next@8");
    check(reader, "inlined", "struct node.next@8; struct node.range.low@16");
    check(reader, "pick", "struct node.key@0");
    check(reader, "spilled", "struct holder.first@0; struct holder.get@8; struct node.key@0");
    check(reader, "scan", "struct node.range.high@20");
    check(reader, "make", "struct holder.first@0; struct node.key@0");
}

static void compile_and_check(const char *language, const char *file, const char *const *compilers,
                              void (*check_all)(struct reader *)) {
    static const char *const FLAGS[] = {"-O0 -gdwarf-4", "-O2 -gdwarf-5", "-O2 -gdwarf-4",
                                        "-O0 -gdwarf-5"};
    unsigned done = 0;
    for (unsigned c = 0; c < 2; c++) {
        for (unsigned i = 0; i < sizeof FLAGS / sizeof *FLAGS; i++) {
            char name[32];
            if (!run("command -v %s >/dev/null", compilers[c]))
                continue;
            snprintf(name, sizeof name, "%s%u%u", language, c, i);
            print_message("%s %s\n", compilers[c], FLAGS[i]);
            assert_true(run("%s %s %s -o %s %s 2>why", compilers[c], FLAGS[i],
                            strstr(compilers[c], "clang") ? "" : "-fno-ipa-sra", name, file));
            struct reader reader = open_file(name);
            check_all(&reader);
            program_free(reader.program);
            done++;
        }
    }
    if (!done) {
        print_message("missing: %s, %s\n", compilers[0], compilers[1]);
        skip();
    }
}

static void test_c(void **unused) {
    (void)unused;
    static const char *const COMPILERS[] = {"gcc", "clang"};
    write_file("sample.c", C_SAMPLE, sizeof C_SAMPLE - 1);
    compile_and_check("c", "sample.c", COMPILERS, check_c);
}

/* ---- copies ---- */

/* A number is copied, or moved on by 32 bytes, to the register that a variable has then; accesses
 * go through the number's, before the variable has a place and behind. */
static const char COPIES[] =
    "struct node { long key; struct node *next; int low, high; };\n"
    "#define APART __attribute__((noinline, noclone))\n"
    "APART long copied(unsigned long from) {\n"
    "    struct node *node; long next, key;\n"
    "    asm(\"mov %[from], %[copy]\\n\\tmov 8(%[from]), %[next]\"\n"
    "        : [copy] \"=&r\"(node), [next] \"=&r\"(next) : [from] \"r\"(from));\n"
    "    asm(\"mov (%[from]), %[key]\" : [key] \"=r\"(key) : [from] \"r\"(from), \"r\"(node));\n"
    "    return next + key + node->high;\n"
    "}\n"
    "APART long beside(unsigned long from) {\n"
    "    struct node *node; long next;\n"
    "    asm(\"lea 32(%[from]), %[copy]\\n\\tmov 40(%[from]), %[next]\"\n"
    "        : [copy] \"=&r\"(node), [next] \"=&r\"(next) : [from] \"r\"(from));\n"
    "    return next + node->high;\n"
    "}\n"
    "int main(int argc, char **argv) {\n"
    "    return (int)(copied((unsigned long)argv) + beside((unsigned long)argv)) + argc;\n"
    "}\n";

static void test_copies(void **unused) {
    (void)unused;
    write_file("copies.c", COPIES, sizeof COPIES - 1);
    if (!run("gcc -O2 -g -o copies copies.c 2>why")) {
        print_message("missing: gcc for x86-64\n");
        skip();
    }
    struct reader reader = open_file("copies");
    check(&reader, "copied", "struct node.high@20; struct node.key@0; struct node.next@8");
    check(&reader, "beside", "struct node.high@20; struct node.next@8");
    program_free(reader.program);
}

/* ---- C++ ---- */

static const char CPP_SAMPLE[] =
    "#define APART __attribute__((noinline))\n"
    "namespace shop {\n"
    "struct base { long id; virtual long weigh() const { return id; } };\n"
    "template <class T> struct pair { T first; T second; };\n"
    "struct item : base {\n"
    "    pair<int> size; item *next;\n"
    "    APART long weigh() const override { return size.second; }\n"
    "    APART long inherited() const { return next->id; }\n"
    "};\n"
    "template <class T> struct list {\n"
    "    T *head; unsigned long count;\n"
    "    __attribute__((always_inline)) T &front() { return *head; }\n"
    "};\n"
    "}\n"
    "using namespace shop;\n"
    "extern \"C\" APART long through(list<item> &items) { return items.front().size.first; }\n"
    "extern \"C\" APART long swap(pair<long> *p) { return p->second; }\n"
    "int main(int argc, char **) {\n"
    "    item one; one.size = {argc, 2}; one.next = &one; one.id = 3;\n"
    "    list<item> items = {&one, 1}; pair<long> p = {1, argc};\n"
    "    return (int)(one.weigh() + one.inherited() + through(items) + swap(&p));\n"
    "}\n";

static void check_cpp(struct reader *reader) {
    check(reader, "shop::item::weigh", "shop::item.size.second@20");
    check(reader, "shop::item::inherited", "shop::item.id@8; shop::item.next@24");
    check(reader, "through", "shop::item.size.first@16; shop::list<shop::item>.head@0");
    check(reader, "swap", "shop::pair<long int>.second@8");
}
static void check_cpp_clang(struct reader *reader) {
    check(reader, "shop::item::weigh", "shop::item.size.second@20");
    check(reader, "shop::item::inherited", "shop::item.id@8; shop::item.next@24");
    check(reader, "through", "shop::item.size.first@16; shop::list<shop::item>.head@0");
    check(reader, "swap", "shop::pair<long>.second@8");
}

static void test_cpp(void **unused) {
    (void)unused;
    static const char *const GCC[] = {"g++", "no-such-compiler"};
    static const char *const CLANG[] = {"no-such-compiler", "clang++"};
    write_file("sample.cc", CPP_SAMPLE, sizeof CPP_SAMPLE - 1);
    compile_and_check("p", "sample.cc", GCC, check_cpp);
    compile_and_check("p", "sample.cc", CLANG, check_cpp_clang);
}

/* ---- damage ---- */

static bool visit(void *context, const struct program_function *function) {
    struct found *found = malloc(sizeof *found);
    look_at(context, function->file_offset, function->size, found);
    free(found);
    return true;
}

/* Bytes of the sections that types are read from are replaced by others: whatever they then say, it
 * comes to an end. */
static void test_damaged(void **unused) {
    (void)unused;
    enum { ROUNDS = 60, BYTES = 12 };
    static const char *const SECTIONS[] = {".debug_info", ".debug_abbrev", ".debug_loclists"};
    char path[TEMPORARY_BYTES + 64];
    struct elf_image image;
    struct error error;
    if (!run("gcc -O2 -gdwarf-5 -o whole sample.c 2>why")) {
        print_message("missing: gcc\n");
        skip();
    }
    snprintf(path, sizeof path, "%s/whole", directory);
    assert_true(elf_image_open(&image, path, &error));
    uint8_t *damaged = malloc(image.size);
    uint64_t random = 88172645463325252;
    for (unsigned round = 0; round < ROUNDS; round++) {
        GElf_Shdr header;
        memcpy(damaged, image.bytes, image.size);
        assert_non_null(elf_image_section(&image, SECTIONS[round % 3], &header));
        for (unsigned i = 0; i < BYTES; i++) { /* xorshift */
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            damaged[header.sh_offset + random % header.sh_size] = (uint8_t)(random >> 40);
        }
        write_file("damaged", damaged, image.size);
        struct reader reader = open_file("damaged");
        program_each_function(reader.program, reader.image, visit, &reader);
        program_free(reader.program);
    }
    free(damaged);
    elf_image_close(&image);
}

/* p[i], where p is what a function of unknown type returned and i counts from 0: the reason is p's,
 * in whichever register the instruction has it. */
static void a_counter_is_no_constant_address(void **state) {
    (void)state;
    const struct value returned = value_unknown(ACCESS_CALLED);
    const struct value counter = value_unknown(ACCESS_DATA);
    assert_int_equal(value_sum(&returned, &counter, 1, 0).reason, ACCESS_CALLED);
    assert_int_equal(value_sum(&counter, &returned, 1, 8).reason, ACCESS_CALLED);
    assert_int_equal(value_sum(&counter, &counter, 4, 0).reason, ACCESS_DATA);
}

static int make_directory(void **unused) {
    (void)unused;
    return mkdtemp(temporary_name(directory, "types")) ? 0 : -1;
}
static int remove_directory(void **unused) {
    (void)unused;
    return run("rm -rf %s", directory) ? 0 : -1;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_counter_is_no_constant_address), cmocka_unit_test(test_c),
        cmocka_unit_test(test_cpp), cmocka_unit_test(test_copies), cmocka_unit_test(test_damaged)};
    return cmocka_run_group_tests_name("access types", tests, make_directory, remove_directory);
}
