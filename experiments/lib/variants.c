/* Which variants of its functions the C library takes here: the place of each in its file. The
 * clock is left to the kernel's code where there is some. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const STRINGS[] = {
    "memchr",    "memcmp",  "memcpy",     "memmove",     "mempcpy", "memrchr",   "memset",
    "rawmemchr", "stpcpy",  "strcasecmp", "strcat",      "strchr",  "strchrnul", "strcmp",
    "strcpy",    "strcspn", "strlen",     "strncasecmp", "strncat", "strncmp",   "strncpy",
    "strnlen",   "strpbrk", "strrchr",    "strspn",      "strstr",  "wcschr",    "wcslen",
    "wcsnlen",   "wmemchr", "wmemcmp",    "wmemset",     NULL};
static const char *const MATHS[] = {"atan", "ceil", "cos", "exp",    "floor", "fma", "log",
                                    "pow",  "rint", "sin", "sincos", "tan",   NULL};

/* `fixed`: a function without variants, by which the library's beginning is found. */
static void tell(const char *library, const char *fixed, const char *const *names) {
    void *handle = dlopen(library, RTLD_NOW);
    Dl_info base;
    if (!handle || !dladdr(dlsym(handle, fixed), &base))
        exit(1);
    for (; *names; names++)
        printf("%s %tx\n", *names, (char *)dlsym(handle, *names) - (char *)base.dli_fbase);
}

int main(void) {
    tell("libc.so.6", "puts", STRINGS);
    tell("libm.so.6", "cbrt", MATHS);
    return 0;
}
