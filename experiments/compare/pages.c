/* As many bytes are read as before, but one of each page in place of one of each line. */
enum { COUNT = 4000, PAGE = 4096 };
char data[COUNT * PAGE];
#ifdef CHANGE
enum { STEP = PAGE };
#else
enum { STEP = 8 };
#endif
__attribute__((noinline)) long visit(void) {
    unsigned long at = 0;
    long sum = 0;
    for (int i = 0; i < COUNT; i++) {
        at = (at * 1021 + 7 + (unsigned long)data[at * STEP]) % COUNT; /* here */
        sum += (long)at;                                               /* here */
    }
    return sum;
}
int main(void) {
    long sum = 0;
    for (int k = 0; k < 12; k++) {
        sum += visit();
        __asm__ volatile("" ::: "memory");
    }
    return sum == 7;
}
