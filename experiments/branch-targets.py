#!/usr/bin/env python3
"""What taken branches cost in loops of nothing else, on this processor and on a simulated machine,
into the part of this kind of host of docs/results/branch-targets.md.

    branch-targets.py [--machine MACHINE]

MACHINE: that of this host's processor or the nearest to it, if none is named. Cycles of an
iteration: measured by the least of many runs, in cycles of dependent additions; simulated by the
difference of two lengths. Takes two minutes."""
import argparse
import json
import os
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

int main(int count, char **arguments) {
    int number = atoi(arguments[1]);
    long length = atol(arguments[2]);
    void (*loop)(long) = number < 0 ? far_loop(-number, 4) : loops[number];
    if (count == 3) {
        loop(length);
        return 0;
    }
    /* The least of many short runs is undisturbed by a neighbour; what a call takes goes. */
    unsigned long unit = ~0ul, none = ~0ul, least = ~0ul;
    const double seconds = now() + 0.5;
    while (now() < seconds) {
        unsigned long begin = __rdtsc();
        additions(50);
        unsigned long second = __rdtsc();
        loop(1);
        unsigned long third = __rdtsc();
        loop(length + 1);
        unsigned long end = __rdtsc();
        unit = second - begin < unit ? second - begin : unit;
        none = third - second < none ? third - second : none;
        least = end - third < least ? end - third : least;
    }
    printf("%f\n", (double)(least - none) / (double)length / ((double)(unit - none) / (50 * 200)));
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


def simulated(number, machine):
    cycles = [json.loads(subprocess.run(
        [run.CULPRIT, "sim", "--machine", machine, "--json", "--", PROGRAM, str(number),
         str(length)], env=run.ENVIRONMENT, check=True, capture_output=True, text=True).stdout)
        ["cycles"] for length in LENGTHS]
    return (cycles[1] - cycles[0]) / (LENGTHS[1] - LENGTHS[0])


def row(title, number, machine, length):
    here, there = measured(number, length), simulated(number, machine)
    return [title, f"{here:.2f}", f"{there:.2f}", f"{there - here:+.2f}"]


arguments = argparse.ArgumentParser(description=__doc__,
                                    formatter_class=argparse.RawDescriptionHelpFormatter)
arguments.add_argument("--machine", default=host.default_machine())
machine = arguments.parse_args().machine
cases = list(loops())
build(cases)
rows = [row(title, i, machine, 2000) for i, (title, _, _) in enumerate(cases)]
rows += [row(f"4 times call and return, to where bit {bit} differs", -bit, machine, 2000)
         for bit in FAR_BITS]
page.write_part("branch-targets", "experiments/branch-targets.py", machine, (
    f"{host.processor()}, {time.strftime('%Y-%m-%d', time.gmtime())}, beside a load of "
    f"{os.getloadavg()[0]:.1f}; cycles of an iteration.\n\n" +
    page.table(["loop", "measured", f"`{machine}`", "difference"], rows)))
