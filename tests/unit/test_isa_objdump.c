/* The decoders against objdump's view of real binaries: every instruction objdump knows must
 * decode from exactly its bytes, with the same size and the same direct branch target; riscv64
 * text must read as objdump's does. The text of objdump is parsed as it streams in.
 *
 * Without an argument the first lines of each; with one, as many as it says. */
#include <ctype.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "isa/insn.h"
#include "temporary.h"

enum { SHOWN_DIFFERENCES = 10 };
static unsigned long most_lines = 80000;

/* One instruction line of objdump -d -w. */
struct line {
    uint64_t address;
    uint8_t bytes[32];
    size_t size;
    char *text; /* mnemonic and operands, blanks normalised, comment and symbols removed */
    bool has_target;
    uint64_t target;
};

struct result {
    uint64_t instructions, unknown_to_objdump, wrong, branches, text_differs;
};

/* x86: "48 89 e5 " bytes in order. riscv64: "fe010113" or "1101", one number. */
static bool parse_bytes(enum isa isa, const char *field, struct line *line) {
    line->size = 0;
    if (isa == ISA_X86_64) {
        unsigned byte;
        int used;
        while (line->size < sizeof line->bytes && sscanf(field, " %2x%n", &byte, &used) == 1) {
            line->bytes[line->size++] = (uint8_t)byte;
            field += used;
        }
        return line->size > 0;
    }
    char *end;
    uint64_t word = strtoull(field, &end, 16);
    for (line->size = 0; line->size < (size_t)(end - field) / 2 && line->size < 8; line->size++)
        line->bytes[line->size] = (uint8_t)(word >> 8 * line->size);
    return line->size > 0;
}

/* Cuts "# comment" and "<symbol+offset>", makes each run of blanks one space. A direct branch is
 * known by a bare hexadecimal number directly before its "<symbol>". */
static void parse_text(char *text, struct line *line) {
    char *comment = strchr(text, '#');
    if (comment)
        *comment = '\0';
    char *symbol = strchr(text, '<');
    line->has_target = false;
    if (symbol) {
        *symbol = '\0';
        char *number = symbol;
        while (number > text && number[-1] == ' ')
            *--number = '\0';
        while (number > text && isxdigit((unsigned char)number[-1]))
            number--;
        bool bare = number > text && strchr(" \t,", number[-1]) && *number != '\0';
        line->has_target = bare;
        line->target = bare ? strtoull(number, NULL, 16) : 0;
    }
    char *out = text;
    for (char *in = text; *in; in++) {
        bool blank = isspace((unsigned char)*in);
        if (!blank)
            *out++ = *in;
        else if (out > text && out[-1] != ' ')
            *out++ = ' ';
    }
    while (out > text && out[-1] == ' ')
        out--;
    *out = '\0';
    line->text = text;
}

static bool parse_line(enum isa isa, char *buffer, struct line *line) {
    char *colon = strchr(buffer, ':');
    if (!colon || colon[1] != '\t')
        return false;
    char *end;
    line->address = strtoull(buffer, &end, 16);
    char *text = strchr(colon + 2, '\t');
    if (end != colon || !text)
        return false;
    *text++ = '\0';
    if (!parse_bytes(isa, colon + 2, line))
        return false;
    parse_text(text, line);
    return true;
}

/* What objdump could not decode either, or prints for bytes that are no whole instruction: a
 * prefix alone, data in code. */
static bool is_unknown(const struct line *line) {
    static const char *const WORDS[] = {"(bad)",  ".byte",  ".word", ".short",
                                        ".2byte", ".4byte", ".insn", "0x"};
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++)
        if (strncmp(line->text, WORDS[i], strlen(WORDS[i])) == 0)
            return true;
    return strstr(line->text, "(bad)") != NULL;
}

static bool is_direct(const struct insn *insn) {
    return insn->branch == BRANCH_CONDITIONAL || insn->branch == BRANCH_JUMP ||
           insn->branch == BRANCH_CALL;
}

/* objdump before 2.42 drops the "i" of immediate forms (add sp,sp,-16); puts it back. */
static void restore_immediate(char *text, size_t size) {
    static const char *const NAMES[][2] = {
        {"add ", "addi "},    {"addw ", "addiw "}, {"and ", "andi "},   {"or ", "ori "},
        {"xor ", "xori "},    {"sll ", "slli "},   {"srl ", "srli "},   {"sra ", "srai "},
        {"sllw ", "slliw "},  {"srlw ", "srliw "}, {"sraw ", "sraiw "}, {"slt ", "slti "},
        {"sltu ", "sltiu "},  {"csrs ", "csrsi "}, {"csrc ", "csrci "}, {"csrrs ", "csrrsi "},
        {"csrrc ", "csrrci "}};
    const char *last = strrchr(text, ',');
    if (!last || !(isdigit((unsigned char)last[1]) || last[1] == '-'))
        return;
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        if (strncmp(text, NAMES[i][0], strlen(NAMES[i][0])) == 0) {
            char operands[256];
            snprintf(operands, sizeof operands, "%s", text + strlen(NAMES[i][0]));
            snprintf(text, size, "%s%s", NAMES[i][1], operands);
            return;
        }
}

/* objdump writes targets without 0x. */
static bool same_text(const struct line *line, const struct insn *insn) {
    char text[256], expected[512];
    insn_text(insn->isa, line->bytes, line->size, line->address, text, sizeof text);
    if (line->has_target) {
        const char *number = strrchr(line->text, ' ');
        const char *comma = strrchr(line->text, ',');
        number = comma > number ? comma : number;
        snprintf(expected, sizeof expected, "%.*s0x%" PRIx64, (int)(number + 1 - line->text),
                 line->text, line->target);
    } else {
        snprintf(expected, sizeof expected, "%s", line->text);
    }
    restore_immediate(expected, sizeof expected);
    return strcmp(text, expected) == 0;
}

static void show(const char *what, const struct line *line, enum isa isa) {
    char text[256];
    insn_text(isa, line->bytes, line->size, line->address, text, sizeof text);
    print_message("  %s at %" PRIx64 ":", what, line->address);
    for (size_t i = 0; i < line->size; i++)
        print_message(" %02x", line->bytes[i]);
    print_message(" objdump \"%s\", ours \"%s\"\n", line->text, text);
}

static void check_line(enum isa isa, const struct line *line, struct result *result) {
    struct insn insn;
    if (is_unknown(line)) {
        result->unknown_to_objdump++;
        return;
    }
    result->instructions++;
    const char *problem = NULL;
    if (!insn_decode(isa, line->bytes, line->size, &insn))
        problem = "undecoded";
    else if (insn.length != line->size)
        problem = "size differs";
    else if (is_direct(&insn) != line->has_target)
        problem = "branch kind differs";
    else if (line->has_target && line->address + (uint64_t)insn.target != line->target)
        problem = "target differs";
    if (problem) {
        if (result->wrong++ < SHOWN_DIFFERENCES)
            show(problem, line, isa);
        return;
    }
    result->branches += line->has_target;
    char text[256];
    assert_true(insn_text(isa, line->bytes, line->size, line->address, text, sizeof text) > 0);
    assert_int_not_equal(strncmp(text, ".byte", 5), 0);
    if (isa == ISA_RISCV64 && !same_text(line, &insn) && result->text_differs++ < SHOWN_DIFFERENCES)
        show("text differs", line, isa);
}

static struct result compare(enum isa isa, const char *objdump, const char *binary) {
    char command[512], *buffer = NULL;
    size_t capacity = 0;
    struct result result = {0};
    if (access(binary, R_OK) != 0) {
        print_message("%s is not installed\n", binary);
        skip();
    }
    snprintf(command, sizeof command, "command -v %s > /dev/null", objdump);
    if (system(command) != 0) {
        print_message("%s is not installed\n", objdump);
        skip();
    }
    snprintf(command, sizeof command, "%s -d -w %s | head -n %lu", objdump, binary, most_lines);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    while (getline(&buffer, &capacity, pipe) > 0) {
        struct line line;
        if (parse_line(isa, buffer, &line))
            check_line(isa, &line, &result);
    }
    free(buffer);
    assert_int_equal(pclose(pipe), 0);
    print_message("%s: %" PRIu64 " instructions, %" PRIu64 " direct branches, %" PRIu64
                  " unknown to objdump, %" PRIu64 " wrong",
                  binary, result.instructions, result.branches, result.unknown_to_objdump,
                  result.wrong);
    if (isa == ISA_RISCV64)
        print_message(", text agrees on %.4f %%",
                      100.0 - 100.0 * (double)result.text_differs / (double)result.instructions);
    print_message("\n");
    return result;
}

static void x86_64_binary_agrees(void **state) {
    struct result result = compare(ISA_X86_64, "objdump", *state);
    assert_true(result.instructions > 10000);
    assert_true(result.branches > 1000);
    assert_int_equal(result.wrong, 0);
    assert_true(result.unknown_to_objdump * 10000 <= result.instructions);
}

static void riscv64_binary_agrees(void **state) {
    struct result result = compare(ISA_RISCV64, "riscv64-linux-gnu-objdump", *state);
    assert_true(result.instructions > 10000);
    assert_true(result.branches > 1000);
    assert_int_equal(result.wrong, 0);
    assert_true(result.unknown_to_objdump * 10000 <= result.instructions);
    assert_true(result.text_differs * 1000 <= result.instructions);
}

/* A static program has glibc's start code, its memory and string functions and its own. */
static void riscv64_static_program_agrees(void **state) {
    (void)state;
    char directory[TEMPORARY_BYTES], command[512], *binary = directory;
    if (system("command -v riscv64-linux-gnu-gcc > /dev/null") != 0) {
        print_message("riscv64-linux-gnu-gcc is not installed\n");
        skip();
    }
    assert_non_null(mkdtemp(temporary_name(directory, "isa-objdump")));
    snprintf(command, sizeof command,
             "printf '#include <math.h>\\n#include <stdio.h>\\nint main(int c, char **v) {"
             "(void)v; printf(\"%%%%f\", sqrt(c) + ceil(c)); }' | "
             "riscv64-linux-gnu-gcc -O2 -static -o %s/program -xc - -lm",
             directory);
    int compiled = system(command);
    char program[256];
    snprintf(program, sizeof program, "%s/program", binary);
    struct result result = {0};
    if (compiled == 0)
        result = compare(ISA_RISCV64, "riscv64-linux-gnu-objdump", program);
    unlink(program);
    rmdir(directory);
    assert_int_equal(compiled, 0);
    assert_true(result.instructions > 10000);
    assert_int_equal(result.wrong, 0);
    assert_true(result.text_differs * 1000 <= result.instructions);
}

#define X86_64(path)                                                                               \
    { "x86_64 " path, x86_64_binary_agrees, NULL, NULL, path }
#define RISCV64(path)                                                                              \
    { "riscv64 " path, riscv64_binary_agrees, NULL, NULL, path }

int main(int argc, char **argv) {
    if (argc > 1)
        most_lines = strtoul(argv[1], NULL, 10);
    const struct CMUnitTest tests[] = {
        X86_64("/usr/bin/gzip"),
        X86_64("/usr/bin/sqlite3"),
        X86_64("/lib/x86_64-linux-gnu/libc.so.6"),
        X86_64("/usr/bin/python3"),
        RISCV64("/usr/riscv64-linux-gnu/lib/libc.so.6"),
        RISCV64("/usr/riscv64-linux-gnu/lib/libm.so.6"),
        cmocka_unit_test(riscv64_static_program_agrees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
