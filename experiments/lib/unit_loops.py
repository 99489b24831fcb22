"""Loops of µops that wait for nothing, by chance: how many cycles each takes says to which units its
µops are given."""
import os
import random
import subprocess

from lib import loops, run

KINDS = {"A": "lea 5(%%rdx),%%{0}", "S": "rorx $3,%%rdx,%%{0}", "M": "imul $5,%%rdx,%%{0}", "C": "cmovz %%rdx,%%{0}",
         "L": "mov -8(%%rsp),%%{0}", "X": "cmp -8(%%rsp),%%rdx", "B": "jo 9f", "K": "cmp %%rdx,%%rdx\njne 9f"}
NAMES = {"A": "addition", "S": "shift", "M": "multiplication", "C": "conditional move", "L": "load", "X": "compare with memory",
         "B": "branch, never taken", "K": "compare and such a branch"}
REGISTERS = "rax", "rcx", "rsi", "rdi", "r8", "r9", "r10", "r11"
COUNT, SEED, COPIES, PIECE = 300, 1, 24, 400
HERE = os.path.join(run.ROOT, "experiments", "lib")


def patterns():
    """Of two to four kinds of µops, additions the most."""
    chance, found = random.Random(SEED), set()
    while len(found) < COUNT:
        kinds = "A" + "".join(chance.sample("SMCLXBK", chance.randint(1, 3)))
        found.add("".join(chance.choice(kinds) for _ in range(chance.randint(3, 9))))
    return sorted(found)


def held_out(pattern):
    """Rules were tried on loops of up to six µops, and on some of up to eight additions, shifts and conditional moves."""
    return len(pattern) >= 7 and bool(set(pattern) & set("MLXBK"))


def function(number, pattern):
    kinds = pattern * COPIES
    body = "\n".join(KINDS[kind].format(REGISTERS[place % len(REGISTERS)]) for place, kind in enumerate(kinds))
    text = f"mov $7,%%edx\ntest %%edx,%%edx\n.p2align 6\n1: {body}\ndec %0\njnz 1b\n9:".replace("\n", "\\n")
    clobbered = ", ".join(f'"{name}"' for name in (*REGISTERS, "rdx", "cc", "memory"))
    return (f'static __attribute__((noinline)) void loop_{number}(long turns) {{ __asm__ volatile("{text}" : "+r"(turns) : : '
            f'{clobbered}); }}\n')


def source(found):
    table = ", ".join(f"loop_{number}" for number in range(len(found)))
    return ('#include "cycles.h"\n#include <stdio.h>\n' + "".join(function(*each) for each in enumerate(found)) +
            f"static void (*const loops[])(long) = {{{table}}};\n"
            f"enum {{ PIECE = {PIECE}, COPIES = {COPIES} }};\n"
            "int main(int words, char **word) {\n"
            "    void (*loop)(long) = loops[atoi(word[1])];\n"
            "    const double seconds = atof(word[2]);\n"
            "    if (words == 3 && seconds > 0)\n"
            '        printf("%f\\n", least_cycles(seconds, loop, PIECE) / (PIECE * COPIES));\n'
            '    for (long turns = seconds > 0 ? 0 : atol(getenv("TURNS")); turns > 0; turns--)\n'
            "        loop(PIECE);\n"
            "}\n")


def build():
    found, path = patterns(), os.path.join(run.KEPT, "unit-loops")
    os.makedirs(run.KEPT, exist_ok=True)
    with open(path + ".c", "w") as out:
        out.write(source(found))
    subprocess.run(["gcc", "-O1", "-I", HERE, "-o", path, path + ".c"], check=True)
    return path, found


def measured(path, row, seconds, tries):
    return min(float(subprocess.run([path, str(row), str(seconds)], check=True, capture_output=True, text=True).stdout)
               for _ in range(tries))


def simulated(path, row, machine, settings):
    return loops.per_turn(machine, [path, str(row), "0"], (1, 3), settings) / (PIECE * COPIES)
