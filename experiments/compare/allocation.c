/* An allocation is made in each round of a loop, in place of once before it. */
#include <stdlib.h>
#include <string.h>
__attribute__((noinline)) long parse(const char *text) {
    long sum = 0;
#ifndef CHANGE
    char *copy = malloc(64);
#endif
    for (int i = 0; i < 20000; i++) {
#ifdef CHANGE
        char *copy = malloc(64);
#endif
        strcpy(copy, text);
        sum += copy[i & 7];
#ifdef CHANGE
        free(copy);
#endif
    }
#ifndef CHANGE
    free(copy);
#endif
    return sum;
}
int main(void) {
    long sum = 0;
    for (int k = 0; k < 3; k++)
        sum += parse("a row of text");
    return sum == 7;
}
