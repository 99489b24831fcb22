/* What is built anew without a change: see experiments/compare.py. */
#ifdef COMMENT
/* A comment
 * of three
 * lines. */
#endif
int data[4000];
#define MORE(name)                                                                                 \
    __attribute__((noinline)) int name(int a) {                                                    \
        return a * 3 + data[a & 7];                                                                \
    }
#define OTHER(name)                                                                                \
    __attribute__((noinline)) int name(int a) {                                                    \
        return a / 7 - data[a & 3];                                                                \
    }
#ifdef REORDERED
OTHER(second)
MORE(first)
#else
MORE(first)
OTHER(second)
#endif
#ifdef UNUSED
MORE(third)
#endif
__attribute__((noinline)) int work(int n) {
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum = sum * 5 + (data[i] ^ i);
    return sum;
}
int main(void) {
    int sum = 0;
    for (int k = 0; k < 60; k++) {
        sum += work(4000) + first(k) + second(k);
        __asm__ volatile("" ::: "memory"); /* it is called each time */
    }
    return sum == 7;
}
