/* An array of structs of 128 bytes; two of their fields, at the beginning and at the end, are
 * summed again and again. -DREMEDY: these two have an array of their own. */
#include <stdlib.h>

enum { COUNT = 30000, ROUNDS = 8 };

#ifdef REMEDY
struct particle {
    double mass, weight;
};
struct particle_rest {
    double position[3], speed[3];
    char name[64];
};
struct particle_rest rest[COUNT];
#define NAME(i) rest[i].name
#else
struct particle {
    double mass;
    double position[3], speed[3];
    char name[64];
    double weight;
};
#define NAME(i) particles[i].name
#endif
struct particle particles[COUNT];

__attribute__((noinline)) static double sum(const struct particle *all, long count) {
    double result = 0;
    for (long i = 0; i < count; i++)
        result += all[i].mass * all[i].weight;
    __asm__ volatile("" ::: "memory");
    return result;
}

int main(void) {
    double result = 0;
    for (long i = 0; i < COUNT; i++) {
        particles[i].mass = (double)i;
        particles[i].weight = 2;
        NAME(i)[0] = 'p';
    }
    for (int round = 0; round < ROUNDS; round++)
        result += sum(particles, COUNT);
    return result < 0;
}
