/* A table that was in the L1 is larger than it. */
#ifdef CHANGE
enum { SIZE = 65536 };
#else
enum { SIZE = 2048 };
#endif
unsigned table[SIZE];
__attribute__((noinline)) unsigned look_up(unsigned at) {
    for (int i = 0; i < 200000; i++) {
        at = at * 1664525 + 1013904223;
        at += table[(at >> 12) % SIZE]; /* here */
    }
    return at;
}
int main(void) {
    return look_up(1) + look_up(2) == 7;
}
