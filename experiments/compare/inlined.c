/* A function is no longer inlined. */
#ifdef CHANGE
#define HOW __attribute__((noinline))
#else
#define HOW __attribute__((always_inline)) inline
#endif
unsigned data[4000];
static HOW unsigned step(unsigned a, unsigned b) {
    return (a ^ b) * 33 + (a >> 7);
}
__attribute__((noinline)) unsigned mix(void) {
    unsigned sum = 1;
    for (int i = 0; i < 4000; i++)
        sum += step(data[i], (unsigned)i);
    return sum;
}
int main(void) {
    unsigned sum = 0;
    for (int k = 0; k < 50; k++) {
        sum += mix();
        __asm__ volatile("" ::: "memory"); /* it is called each time */
    }
    return sum == 7;
}
