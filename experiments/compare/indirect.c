/* Operations come one kind after the other no longer, but mixed: each is called through a table. */
enum { COUNT = 8000 };
static unsigned char kinds[COUNT];
static unsigned total;
static void add(unsigned a) { total += a; }
static void subtract(unsigned a) { total -= a; }
static void twist(unsigned a) { total ^= a << 3; }
static void multiply(unsigned a) { total = total * 3 + a; }
static void (*const operations[])(unsigned) = {add, subtract, twist, multiply};
__attribute__((noinline)) void make(void) {
    unsigned state = 1;
    for (int i = 0; i < COUNT; i++) {
        state = state * 1664525u + 1013904223u;
#ifdef CHANGE
        kinds[i] = state >> 30;
#else
        kinds[i] = (unsigned char)(i * 4 / COUNT);
#endif
    }
}
__attribute__((noinline)) void execute(void) {
    for (int i = 0; i < COUNT; i++)
        operations[kinds[i]]((unsigned)i); /* here */
}
int main(void) {
    make();
    for (int k = 0; k < 8; k++)
        execute();
    return total == 7;
}
