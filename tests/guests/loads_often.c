/* loads_often ROUNDS: loads a library, works in it, unloads it, and another in its place. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static unsigned char bytes[1 << 20];

static double work_in_libm(void *library) {
    double (*function)(double) = (double (*)(double))dlsym(library, "tan");
    double sum = 0;
    for (int i = 0; function && i < 50000; i++)
        sum += function(i);
    return sum;
}

static double work_in_libz(void *library) {
    unsigned long (*crc)(unsigned long, const unsigned char *, unsigned) =
        (unsigned long (*)(unsigned long, const unsigned char *, unsigned))dlsym(library, "crc32");
    return crc ? (double)crc(0, bytes, sizeof bytes) : 0;
}

int main(int argc, char **argv) {
    double sum = 0;
    for (int round = 0; round < (argc > 1 ? atoi(argv[1]) : 1); round++) {
        int even = round % 2;
        void *library = dlopen(even ? "libm.so.6" : "libz.so.1", RTLD_NOW);
        if (!library)
            return 1;
        sum += even ? work_in_libm(library) : work_in_libz(library);
        dlclose(library);
    }
    printf("%g\n", sum);
    return 0;
}
