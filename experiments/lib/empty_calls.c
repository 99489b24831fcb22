/* Executes a branch, `probed`, again and again, with next to nothing in between: what a probe
 * takes. */
int main(void) {
    for (int i = 0; i < 20000; i++)
        __asm__ volatile(".globl probed\nprobed: jmp 1f\n1:");
    return 0;
}
