/* A division in place of a shift. */
unsigned long data[10000];
volatile unsigned long amount = 3;
__attribute__((noinline)) unsigned long scale(unsigned long by) {
    unsigned long sum = 0;
    for (int i = 0; i < 10000; i++)
#ifdef CHANGE
        sum = (sum + data[i] + 12345) / by; /* here */
#else
        sum = (sum + data[i] + 12345) >> by; /* here */
#endif
    return sum;
}
int main(void) {
    unsigned long sum = 0;
    for (int k = 0; k < 30; k++) {
        sum += scale(amount);
        __asm__ volatile("" ::: "memory"); /* it is called each time */
    }
    return sum == 7;
}
