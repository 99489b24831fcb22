/* The length of a text is found in each round of a loop. */
#include <string.h>
char text[2000];
__attribute__((noinline)) void upper(char *to) {
#ifdef CHANGE
    for (size_t i = 0; i < strlen(to); i++)
#else
    const size_t length = strlen(to);
    for (size_t i = 0; i < length; i++)
#endif
        to[i] = (char)(to[i] - (to[i] > 96 ? 32 : 0));
}
int main(void) {
    memset(text, 'a', sizeof text - 1);
    for (int k = 0; k < 20; k++)
        upper(text);
    return text[3] == 7;
}
