#!/usr/bin/env python3
"""What taken branches cost in loops of nothing else, indirect jumps of several targets, and more
branches than are predicted, on this processor and on a simulated machine, into the part of this kind of host of
docs/results/branch-targets.md.

    branch-targets.py [--machine MACHINE]

MACHINE: that of this host's processor or the nearest to it, if none is named. Cycles of an
iteration: measured by the least of many runs, in cycles of dependent additions; simulated by the
difference of two lengths. Takes six minutes."""
import argparse
import json
import os
import random
import subprocess
import time

from lib import host, page, run

SLOW = "lea 1(%rsi),%eax\n"  # four a cycle at most, so fetch waits
FOLDER = os.path.join(run.KEPT, "branch-targets")
PROGRAM = os.path.join(FOLDER, "branches")
LENGTHS = 10000, 60000
FAR_BITS = 20, 32, 34, 35, 36, 37, 38, 40, 43

MAIN = r"""
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <x86intrin.h>

void additions(long count);
__asm__(".text\nadditions: 1: .rept 100\nadd $1, %rax\nxor $1, %rax\n.endr\ndec %rdi\njnz 1b\nret");

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* A loop at a fixed place of so many `call *[rip]` to a return whose address differs in one bit. */
static void (*far_loop(int bit, int calls))(long) {
    char *near = mmap((void *)0x100000000000, 8192, PROT_READ | PROT_WRITE | PROT_EXEC,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    char *far = mmap((void *)(0x100000000000 | 1ul << bit), 8192,
                     PROT_READ | PROT_WRITE | PROT_EXEC,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (near == MAP_FAILED || far == MAP_FAILED)
        exit(3);
    char *at = near + 256;
    *(void **)(near + 4096) = far + 64;
    far[64] = '\xc3';
    for (int i = 0; i < calls; i++, at += 6) {
        int distance = (int)(near + 4096 - (at + 6));
        memcpy(at, "\xff\x15", 2);
        memcpy(at + 2, &distance, 4);
    }
    int back = (int)(near + 256 - (at + 9));
    memcpy(at, "\x48\xff\xcf\x0f\x85", 5);
    memcpy(at + 5, &back, 4);
    at[9] = '\xc3';
    return (void (*)(long))(near + 256);
}

LOOPS

struct pair {
    unsigned long one, all; /* clock ticks of one iteration, and of all */
};

static void time_pair(struct pair *least, void (*loop)(long), long length) {
    unsigned long begin = __rdtsc();
    loop(1);
    unsigned long second = __rdtsc();
    loop(length);
    unsigned long end = __rdtsc();
    least->one = second - begin < least->one ? second - begin : least->one;
    least->all = end - second < least->all ? end - second : least->all;
}

int main(int count, char **arguments) {
    int number = atoi(arguments[1]);
    long length = atol(arguments[2]);
    void (*loop)(long) = number < 0 ? far_loop(-number, 4) : loops[number];
    if (count == 3) {
        loop(length);
        return 0;
    }
    /* The least of many short runs is undisturbed by a neighbour; what a call takes goes. */
    struct pair unit = {~0ul, ~0ul}, least = {~0ul, ~0ul};
    const double seconds = now() + 0.5;
    while (now() < seconds) {
        time_pair(&unit, additions, 51);
        time_pair(&least, loop, length + 1);
    }
    printf("%f\n", (double)(least.all - least.one) / (double)length /
                       ((double)(unit.all - unit.one) / (50 * 200)));
}
"""


def jumps(count, first):
    return "".join(f"jmp {first + i}f\n.p2align 5\n{first + i}:\n" for i in range(count))


def loops():
    """(title, body, functions that it calls); label 9 is one that only returns."""
    yield "nothing but the loop's own branch", "", ""
    for count in 1, 4, 8:
        yield f"{count} jumps", jumps(count, 20), ""
    for count in 4, 8:
        yield f"{count} conditional branches not taken", "test %r11, %r11\n" + count * "jz 99f\n", ""
    for count in 1, 2, 4, 8:
        yield f"{count} times call and return", count * "call 9f\n", ""
    for count in 2, 4:
        yield (f"{count} calls alone",
               "".join(f"call {20 + i}f\n.p2align 6\n{20 + i}: pop %rcx\n" for i in range(count)), "")
    for within, behind in (1, 0), (1, 1), (2, 0), (2, 2), (4, 0), (0, 4), (4, 4):
        yield (f"call, {within} jumps, return, {behind} jumps", "call 60f\n" + jumps(behind, 40),
               ".p2align 6\n60:\n" + jumps(within, 20) + "ret\n")
    for count in 8, 12, 16:
        yield (f"4 times call, {count} slow instructions, return", 4 * "call 60f\n",
               ".p2align 6\n60:\n" + count * SLOW + "ret\n")
    for slow in 200, 400:
        for count in 12, 20, 28, 40:
            yield (f"{slow} slow instructions, {count} times call and return",
                   slow * SLOW + count * "call 9f\n", "")


def in_turn(targets):
    """All of them, in a random order that is always the same, at least 256 in a row."""
    order = random.Random(targets).sample(range(targets), targets)
    return order * max(1, 256 // targets)


def program(targets, length):
    """So many of them in any order, at least 256 in a row."""
    draw = random.Random(f"{targets} {length}")
    return [draw.randrange(targets) for _ in range(length)] * max(1, 256 // length)


def dispatch(order, behind=0, before=0, slow=0, own=False, call=False):
    """A walk through a table of targets by an indirect jump: each target has so many slow instructions
    and jumps back (own: has an indirect jump of its own; call: is called and returns); `before`
    jumps and `behind` slow instructions lie between that and the indirect jump. Targets are at
    distances of 64 bytes or, with slow instructions, next to each other."""
    jump = f"add $8, %rsi\n{'call' if call else 'jmp'} *-8(%rsi)\n"
    back = "ret\n" if call else jump if own else "jmp 58b\n"
    place = "" if slow else ".p2align 6\n"
    targets = "".join(f"{place}{i + 100}: {slow * SLOW}{back}" for i in range(max(order) + 1))
    table = "".join(f".quad {i + 100}b\n" for i in order)
    end = "59: pop %rcx\n" if call else "59:\n"
    return (f"lea 57f(%rip), %rsi\njmp 58f\n.p2align 6\n58:\n{jumps(before, 40)}{behind * SLOW}{jump}"
            f"{'jmp 58b' if call else ''}\n{targets}.pushsection .data\n57: {table}.quad 59f\n"
            f".popsection\n.p2align 6\n{end}")


def told(targets, length, taken=0, never=0):
    """A conditional branch that is taken where the number of the target is odd, so many others that
    are always taken, and never, and the indirect jump."""
    draw = random.Random(f"told {targets} {length}")
    order = [draw.randrange(targets) for _ in range(length)] * max(1, 256 // length)
    others = taken * "je 40f\n.p2align 5\n40:\n" + never * "jne 56f\n"
    back = "".join(f".p2align 6\n{i + 100}: jmp 58b\n" for i in range(targets))
    table = "".join(f".quad {i + 100}b, {i % 2}\n" for i in order)
    return (f"lea 57f(%rip), %rsi\njmp 58f\n.p2align 6\n58: add $16, %rsi\ntestb $1, -8(%rsi)\njnz 56f\n"
            f"nop\n56: cmp %eax, %eax\n{others}jmp *-16(%rsi)\n56:\n{back}"
            f".pushsection .data\n57: {table}.quad 59f, 0\n.popsection\n.p2align 6\n59:\n")


def random_bits(count, share=0.5):
    draw = random.Random(count)
    return [int(draw.random() < share) for _ in range(count)]


def directions(pattern):
    """A conditional branch on these bits, at least 256 in a row."""
    count = len(pattern) * max(1, 256 // len(pattern))
    bits = "".join(f".byte {', '.join(map(str, pattern))}\n" for _ in range(count // len(pattern)))
    return count, (f"lea 57f(%rip), %rsi\nlea {count}(%rsi), %rcx\n58: cmpb $0, (%rsi)\nlea 1(%rsi), %rsi\n"
            f"jnz 56f\nnop\n56: cmp %rcx, %rsi\njnz 58b\n"
            f".pushsection .data\n57: {bits}.popsection\n")


def indirect_jumps():
    """(title, branches in an iteration, body)"""
    def case(title, order, **shape):
        return title, len(order), dispatch(order, **shape)
    for count in 1, 2, 4, 8, 16, 64:
        yield case(f"{count} targets in turn", in_turn(count))
    for count in 4, 16, 64, 128, 256:
        yield case(f"{count} targets in turn, each of 20 instructions", in_turn(count), slow=20)
    for count in 1, 2, 8:
        for before in 1, 2:
            yield case(f"{count} targets in turn, {before} direct jumps before the indirect one", in_turn(count),
                       before=before)
    for count in 1, 8:
        for behind in 12, 24:
            yield case(f"{count} targets in turn, {behind} instructions before the indirect jump",
                       in_turn(count), behind=behind)
    for count in 1, 2, 8:
        yield case(f"{count} targets called in turn", in_turn(count), call=True)
    for own in False, True:
        for length in 8, 16, 64, 256, 1024, 4096, 16384:
            yield case(f"a program of {length}, 16 targets{', each with its own jump' if own else ''}",
                       program(16, length), own=own)
    for taken in 0, 1, 4, 8, 12, 16, 32:
        title = f"2 targets, told by a branch {taken} taken ones before, a program of 256"
        yield title, 256, told(2, 256, taken=taken)
    yield "2 targets, told by a branch 64 before that are not taken", 256, told(2, 256, never=64)
    for length in 256, 1024, 2048, 4096:
        yield (f"16 targets, a branch tells odd ones, a program of {length}", length,
               told(16, length, taken=1))
    for count in 8, 16, 64:
        for what in 1, 0:
            yield (f"a conditional branch {'' if what else 'not '}taken once in {count} times",
                   *directions([what] + (count - 1) * [1 - what]))
    for count in 128, 512, 1024, 4096, 32768, 65536, 1 << 20:
        yield f"a conditional branch on {count} random bits", *directions(random_bits(count))
    for share in 0.1, 0.25, 0.75, 0.9:
        yield f"a conditional branch on 4096 random bits, {share} of them taken", *directions(random_bits(4096, share))


PAGE, APART = 4096, 32


def within_pages(count):
    """Jumps: one page after the other, in random order within each."""
    draw, per_page = random.Random(count), PAGE // APART
    pages = [list(range(first, min(first + per_page, count))) for first in range(0, count, per_page)]
    for one in pages:
        draw.shuffle(one)
    return pages


def jumps_within(name, count):
    return chain(name, count, [jump for one in within_pages(count) for jump in one])


def jumps_across(name, count):
    """Each to another page, of which all have their turn."""
    pages, order = within_pages(count), []
    while any(pages):
        order += [one.pop() for one in pages if one]
    return chain(name, count, order)


def chain(name, count, order):
    following = dict(zip(order, order[1:] + [None]))
    lines = "".join(f".balign {APART}, 0x90\n{name}_{i}: jmp "
                    f"{name + '_end' if following[i] is None else f'{name}_{following[i]}'}\n" for i in range(count))
    return f"jmp {name}_{order[0]}\n.p2align 12\n{lines}{name}_end:\n"


def rows_across(name, count):
    """By turns between two rows of jumps, as calibrate has them."""
    there = "".join(f".balign 16, 0x90\n{name}_a{i}: jmp {name}_b{i}\n" for i in range(count // 2))
    back = "".join(f".balign 16, 0x90\n{name}_b{i}: jmp {name}_a{i + 1}\n" for i in range(count // 2))
    return (f".p2align 12\n{there}.balign 16, 0x90\n{name}_a{count // 2}: jmp {name}_end\n"
            f".p2align 12\n{back}{name}_end:\n")


def pairs_within(name, count, call):
    """Jumps to the other half of a page and back, or calls and returns."""
    per_page, pages = PAGE // 2 // 16 - 1, []
    for first in range(0, count // 2, per_page):
        numbers = range(first, min(first + per_page, count // 2))
        there, back = "", ""
        for i in numbers:
            there += ".balign 16, 0x90\n" + (f"call {name}_f{i}\n" if call else f"jmp {name}_f{i}\n{name}_b{i}:\n")
            back += f".balign 16, 0x90\n{name}_f{i}: " + ("ret\n" if call else f"jmp {name}_b{i}\n")
        pages.append(f".p2align 12\n{name}_p{len(pages)}:\n{there}jmp {name}_p{len(pages) + 1}\n"
                     f".balign 2048, 0x90\n{back}")
    return f"{''.join(pages)}{name}_p{len(pages)}:\n"


def many():
    """(title, branches, body)"""
    kinds = (("jumps within a page, in random order", jumps_within),
             ("jumps to other pages, in random order", jumps_across),
             ("jumps to another page and back, in rows", rows_across),
             ("jumps to the other half of a page and back", lambda *of: pairs_within(*of, call=False)),
             ("calls to the other half of a page, and returns", lambda *of: pairs_within(*of, call=True)))
    for kind, (title, make) in enumerate(kinds):
        for count in 800, 2000, 3000, 3500, 4000, 4500, 5000, 5500, 7000:
            yield title, count, make(f"many{kind}_{count}", count)


def build(cases):
    text = [".text"]
    for i, (_, body, functions) in enumerate(cases):
        text.append(f".globl loop{i}\n.p2align 6\nloop{i}:\npush %rbx\nmov %rdi, %rbx\n"
                    f"mov $1, %r11d\n.p2align 6\n1:\n{body}dec %rbx\njnz 1b\npop %rbx\n99: ret\n"
                    f".p2align 6\n9: ret\n{functions}")
    text.append('.section .note.GNU-stack,"",@progbits\n')
    names = [f"loop{i}" for i in range(len(cases))]
    table = ("".join(f"void {name}(long);\n" for name in names) +
             "static void (*const loops[])(long) = {" + ", ".join(names) + "};")
    os.makedirs(FOLDER, exist_ok=True)
    for name, content in ("loops.S", "\n".join(text)), ("main.c", MAIN.replace("LOOPS", table)):
        with open(os.path.join(FOLDER, name), "w") as file:
            file.write(content)
    subprocess.run(["gcc", "-O1", "-o", PROGRAM, "main.c", "loops.S"], cwd=FOLDER, check=True)


def measured(number, length):
    said = subprocess.run([PROGRAM, str(number), str(length), "timed"], check=True,
                          capture_output=True, text=True).stdout
    return float(said)


def simulated(number, machine, lengths=LENGTHS):
    cycles = [json.loads(subprocess.run(
        [run.CULPRIT, "sim", "--machine", machine, "--json", "--", PROGRAM, str(number),
         str(length)], env=run.ENVIRONMENT, check=True, capture_output=True, text=True).stdout)
        ["cycles"] for length in lengths]
    return (cycles[1] - cycles[0]) / (lengths[1] - lengths[0])


def row(title, number, machine, length):
    here, there = measured(number, length), simulated(number, machine)
    return [title, f"{here:.2f}", f"{there:.2f}", f"{there - here:+.2f}"]


def row_of_jumps(title, number, machine, branches):
    """Of one branch. What a processor has learned is of many iterations before."""
    length = 1 + 4096 // branches
    here = measured(number, length) / branches
    there = simulated(number, machine, (2 * length + 8, 4 * length + 16)) / branches
    return [title, f"{here:.2f}", f"{there:.2f}", f"{there - here:+.2f}"]


def row_of_many(title, number, machine, branches):
    here = measured(number, 1 + 40000 // branches) / branches
    there = simulated(number, machine, (4, 12)) / branches
    return [title, f"{branches:,}", f"{here:.2f}", f"{there:.2f}", f"{there - here:+.2f}"]


arguments = argparse.ArgumentParser(description=__doc__,
                                    formatter_class=argparse.RawDescriptionHelpFormatter)
arguments.add_argument("--machine", default=host.default_machine())
machine = arguments.parse_args().machine
cases, indirect, numerous = list(loops()), list(indirect_jumps()), list(many())
build(cases + [(title, body, "") for title, _, body in indirect + numerous])
rows = [row(title, i, machine, 2000) for i, (title, _, _) in enumerate(cases)]
rows += [row(f"4 times call and return, to where bit {bit} differs", -bit, machine, 2000)
         for bit in FAR_BITS]
rows_of_jumps = [row_of_jumps(title, len(cases) + i, machine, branches)
                 for i, (title, branches, _) in enumerate(indirect)]
rows_of_many = [row_of_many(title, len(cases) + len(indirect) + i, machine, branches)
                for i, (title, branches, _) in enumerate(numerous)]
page.write_part("branch-targets", "experiments/branch-targets.py", machine, (
    f"{host.processor()}, {time.strftime('%Y-%m-%d', time.gmtime())}, beside a load of "
    f"{os.getloadavg()[0]:.1f}; cycles of an iteration.\n\n" +
    page.table(["loop", "measured", f"`{machine}`", "difference"], rows) +
    "\n\nIndirect jumps (`add rsi, 8; jmp [rsi-8]`) to targets that jump back to it; a conditional branch "
    "beside another. Cycles of one.\n\n" +
    page.table(["indirect jump", "measured", f"`{machine}`", "difference"], rows_of_jumps) +
    "\n\nMore branches than are predicted, each with a place of its own, in a loop. Cycles of one.\n\n" +
    page.table(["branches", "how many", "measured", f"`{machine}`", "difference"], rows_of_many)))
