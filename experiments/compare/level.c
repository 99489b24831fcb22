/* -O2 becomes -O1: a small function that is called in two places is no longer inlined. */
unsigned data[4000];
static unsigned step(unsigned a, unsigned b) {
    if (a < b)               /* here */
        a += b >> 3;         /* here */
    else                     /* here */
        a ^= b * 5;          /* here */
    a = a * 33 + (a >> 7);   /* here */
    return a ^ b << (a & 3); /* here */
}
__attribute__((noinline)) unsigned mix(void) {
    unsigned one = 1, two = 2;
    for (int i = 0; i < 4000; i += 2) {
        one += step(i, data[i]);     /* here */
        two += step(i, data[i + 1]); /* here */
    }
    return one + two;
}
int main(void) {
    unsigned sum = 0;
    for (int k = 0; k < 50; k++) {
        sum += mix();
        __asm__ volatile("" ::: "memory"); /* it is called each time */
    }
    return sum == 7;
}
