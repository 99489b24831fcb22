/* A word is read at once that has just been written in two halves. */
unsigned half[2];
__attribute__((noinline)) unsigned long pack(unsigned n) {
    volatile unsigned *halves = half;
    unsigned long sum = 0;
    for (unsigned i = 0; i < n; i++) {
        halves[0] = i;
        halves[1] = (unsigned)sum;
#ifdef CHANGE
        sum += *(volatile unsigned long *)half; /* here */
#else
        sum += i | sum << 32;
#endif
    }
    return sum;
}
int main(void) {
    return pack(60000) == 7;
}
