/* What a chain of operations takes beside others that the same units execute.
 *
 *     schedulers ROW SECONDS
 *
 * Prints the cycles of a link of the chain: of ROW 0 and more, the names of `rows`. The least of
 * many short pieces within SECONDS; SECONDS 0: so many rounds as TURNS in the environment says,
 * untimed. Without arguments: the names. */
#include "cycles.h"

#include <stdio.h>

enum { ROUND = 20, PIECE = 50 };

/* `BODY` 20 times, a round; and the same as 20 turns of a loop. */
#define ROUNDS(name, BODY)                                                                         \
    static __attribute__((noinline)) void name(long rounds) {                                      \
        __asm__ volatile(                                                                          \
            "mov $7, %%edx\nmov %%rdx, %%rax\nmov %%rsp, %%r8\n.p2align 6\n1: .rept 20\n" BODY     \
            "\n.endr\ndec %0\njnz 1b\n9:"                                                          \
            : "+r"(rounds)::"rax", "rcx", "rdx", "rsi", "r8", "r9", "cc", "memory");               \
    }
#define LOOP(name, BODY)                                                                           \
    static __attribute__((noinline)) void name(long rounds) {                                      \
        long turns = rounds * ROUND;                                                               \
        __asm__ volatile("mov $7, %%edx\nmov %%rdx, %%rax\nmov %%rsp, %%r8\n.p2align 6\n1:\n" BODY \
                         "\ndec %0\njnz 1b"                                                        \
                         : "+r"(turns)::"rax", "rcx", "rdx", "rsi", "r8", "r9", "cc", "memory");   \
    }
#define LINK        "add %%rdx, %%rax\n"
#define TWO(what)   what what
#define THREE(what) what what what
#define SIX(what)   TWO(what) THREE(what) what
#define BESIDE      "lea 5(%%rax), %%rcx\n" /* waits for the link */
#define APART       "lea 5(%%rdx), %%rcx\n" /* waits for nothing */
#define BEHIND      BESIDE "add $3, %%rcx\n"
#define LONGER      BEHIND "xor %%rdx, %%rcx\n"
#define SHIFTED     "mov %%rax, %%rcx\nshr $32, %%rcx\n"
#define RANDOM                                                                                     \
    "mov %%rax, %%rcx\nshl $13, %%rcx\nxor %%rcx, %%rax\nmov %%rax, %%rcx\nshr $7, %%rcx\n"        \
    "xor %%rcx, %%rax\nmov %%rax, %%rcx\nshl $17, %%rcx\nxor %%rcx, %%rax\n"
#define INDEX SHIFTED "imul %%rdx, %%rcx\nshr $32, %%rcx\n"
#define PLACE                                                                                      \
    INDEX "mov %%rcx, %%rsi\nshl $6, %%rcx\nand $63, %%esi\nadd %%rsi, %%rcx\nshl $6, %%rcx\n"
#define LOAD       "movzbl -8(%%rsp), %%ecx\nadd %%rcx, %%r8\n"
#define COMPARE    "cmp $23, %%rdx\n"
#define STEP       "add $0, %%r8\n" /* along memory, but for how far */
#define ADD(r)     "add %%rdx, %%" r "\n"
#define XOR(r)     "xor %%rdx, %%" r "\n"
#define ROTATE(r)  "ror $24, %%" r "\n"
#define MIX(r)     ADD(r) XOR(r) ROTATE(r)
#define SHIFT      "rorx $3, %%rdx, %%rsi\n" /* these wait for nothing */
#define PRODUCT    "imul $5, %%rdx, %%r9\n"
#define CHOICES    "cmovz %%rdx, %%rax\ncmovz %%rdx, %%rcx\n"
#define BRANCH     "jo 9f\n" /* never taken */
#define PAIR       "cmp %%rdx, %%rdx\njne 9f\n"
#define IN_MEMORY  "cmp -8(%%rsp), %%rdx\n"
#define EACH(what) what("rax") what("rcx") what("r8") what("r9")

ROUNDS(chain, SIX(LINK))
ROUNDS(beside_1, SIX(LINK BESIDE))
ROUNDS(beside_2, SIX(LINK TWO(BESIDE)))
ROUNDS(beside_3, SIX(LINK THREE(BESIDE)))
ROUNDS(behind_2, SIX(LINK BEHIND))
ROUNDS(behind_3, SIX(LINK LONGER))
ROUNDS(apart_1, SIX(LINK APART))
ROUNDS(apart_2, SIX(LINK TWO(APART)))
ROUNDS(apart_3, SIX(LINK THREE(APART)))
ROUNDS(shifted_1, SIX(LINK SHIFTED))
ROUNDS(random_numbers, RANDOM)
ROUNDS(indices, RANDOM INDEX)
ROUNDS(places, RANDOM PLACE)
ROUNDS(loads, RANDOM PLACE LOAD)
ROUNDS(mix_1, TWO(MIX("rax")))
ROUNDS(mix_2, TWO(MIX("rax") MIX("rcx")))
ROUNDS(mix_3, TWO(MIX("rax") MIX("rcx") MIX("r8")))
ROUNDS(mix_4, TWO(EACH(MIX)))
ROUNDS(by_turns_4, TWO(EACH(ADD) EACH(XOR) EACH(ROTATE)))
ROUNDS(additions_3, SIX(ADD("rax") ADD("rcx") ADD("r8")))
ROUNDS(additions_4, SIX(EACH(ADD)))
ROUNDS(compares_4, SIX(TWO(TWO(COMPARE))))
ROUNDS(steps, SIX(STEP "cmpb $2, (%%r8)\n"))
ROUNDS(tests, SIX(STEP "movzbl (%%r8), %%ecx\ntest %%ecx, %%ecx\n"))
ROUNDS(six_apart, SIX(THREE(APART) THREE(SHIFT)))
ROUNDS(six_by_turns, SIX(THREE(APART SHIFT)))
ROUNDS(products_between, SIX(APART PRODUCT TWO(SHIFT) PRODUCT))
ROUNDS(one_product, SIX(TWO(TWO(APART)) PRODUCT))
ROUNDS(one_shift, SIX(APART TWO(SHIFT) PRODUCT))
ROUNDS(one_branch, SIX(TWO(TWO(APART)) PAIR))
ROUNDS(two_branches, SIX(THREE(APART) TWO(BRANCH)))
ROUNDS(two_choices, SIX(CHOICES BRANCH))
ROUNDS(in_memory, SIX(SHIFT TWO(TWO(IN_MEMORY))))
LOOP(random_loop, RANDOM)
LOOP(index_loop, RANDOM INDEX)
LOOP(place_loop, RANDOM PLACE)
LOOP(load_loop, RANDOM PLACE LOAD)

static const struct row {
    const char *name;
    void (*run)(long rounds);
} rows[] = {{"additions in a chain", chain},
            {"one beside each, of its result", beside_1},
            {"two beside each", beside_2},
            {"three beside each", beside_3},
            {"two in a row behind each", behind_2},
            {"three in a row behind each", behind_3},
            {"one beside each, of nothing", apart_1},
            {"two of nothing", apart_2},
            {"three of nothing", apart_3},
            {"a shift beside each, of its result", shifted_1},
            {"random numbers (three shifts, three xors)", random_numbers},
            {"and an index of each", indices},
            {"and a place of each", places},
            {"and a load and its sum", loads},
            {"add, xor and rotate: one chain", mix_1},
            {"two such chains", mix_2},
            {"three", mix_3},
            {"four", mix_4},
            {"four, additions first, then the others", by_turns_4},
            {"three chains of additions", additions_3},
            {"four", additions_4},
            {"random numbers, one a turn of a loop", random_loop},
            {"and an index of each", index_loop},
            {"and a place of each", place_loop},
            {"and a load and its sum", load_loop},
            {"three additions and three shifts, of nothing", six_apart},
            {"by turns", six_by_turns},
            {"an addition, a product, two shifts, a product", products_between},
            {"four additions and a product", one_product},
            {"an addition, two shifts, a product", one_shift},
            {"four additions, and a compare with its branch", one_branch},
            {"three additions and two branches, never taken", two_branches},
            {"two conditional moves and a branch", two_choices},
            {"a shift and four compares with memory", in_memory},
            {"four compares, of nothing", compares_4},
            {"a step along memory, and a compare with memory there", steps},
            {"a step, a load there and a test of it", tests}};
enum { ROWS = sizeof rows / sizeof *rows, LINKS = 6 /* of each body */ };

int main(int words, char **word) {
    for (int i = 0; words == 1 && i < ROWS; i++)
        printf("%s\n", rows[i].name);
    if (words != 3 || atoi(word[1]) >= ROWS)
        return words != 1;
    const struct row *row = &rows[atoi(word[1])];
    const double seconds = atof(word[2]);
    if (seconds == 0) {
        for (long turns = atol(getenv("TURNS")); turns > 0; turns--)
            row->run(PIECE);
        return 0;
    }
    printf("%f\n", least_cycles(seconds, row->run, PIECE) / (PIECE * ROUND * LINKS));
}
