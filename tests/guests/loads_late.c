/* Loads a library, calls it, unloads it, and another in its place. */
#include <dlfcn.h>
#include <stdio.h>

static double call(const char *library, const char *name) {
    void *handle = dlopen(library, RTLD_NOW);
    if (!handle)
        return 0;
    double (*function)(double) = (double (*)(double))dlsym(handle, name);
    double result = function ? function(0.5) : 0;
    dlclose(handle);
    return result;
}

int main(void) {
    double sum = 0;
    for (int i = 0; i < 5; i++) {
        sum += call("libm.so.6", "tan");
        if (dlopen("libz.so.1", RTLD_NOW | RTLD_NOLOAD))
            return 1;
        void *zlib = dlopen("libz.so.1", RTLD_NOW);
        if (zlib) {
            const char *(*version)(void) = (const char *(*)(void))dlsym(zlib, "zlibVersion");
            sum += version()[0] == '1';
            dlclose(zlib);
        }
    }
    printf("%.2f\n", sum);
    return 0;
}
