/* strings [ROUNDS]: words and the C library's string functions.
 *
 * Writes sentences, splits them, compares, searches and counts words: short loops, calls into libc
 * (vector code on x86-64, word at a time on riscv64), branches that depend on lengths. Time is
 * spread over strlen, memcpy, strcmp, strstr, strtok_r and snprintf: shared library functions. */
#include <string.h>

#include "workload.h"

enum { LINE = 256, DISTINCT = 64 };

static const char *const SYLLABLES[] = {"ka", "lor", "mi", "ten", "su", "ra", "vel", "o"};

kernel void write_sentence(char *line, uint64_t *seed) {
    size_t length = 0;
    unsigned words = 5 + (unsigned)random_below(seed, 20);
    for (unsigned i = 0; i < words && length < LINE - 24; i++) {
        unsigned syllables = 1 + (unsigned)random_below(seed, 3);
        for (unsigned j = 0; j < syllables; j++) {
            const char *syllable = SYLLABLES[random_below(seed, 8)];
            size_t size = strlen(syllable);
            memcpy(line + length, syllable, size);
            length += size;
        }
        length += (size_t)snprintf(line + length, LINE - length, "%u ", i % 3);
    }
    line[length] = '\0';
}

struct dictionary {
    char words[DISTINCT][16];
    uint64_t counts[DISTINCT];
    unsigned used;
};

kernel void count_words(struct dictionary *dictionary, char *line) {
    char *rest;
    for (char *word = strtok_r(line, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        unsigned at = 0;
        while (at < dictionary->used && strcmp(dictionary->words[at], word) != 0)
            at++;
        if (at == dictionary->used) {
            if (dictionary->used == DISTINCT)
                continue;
            snprintf(dictionary->words[at], sizeof dictionary->words[at], "%s", word);
            dictionary->used++;
        }
        dictionary->counts[at]++;
    }
}

kernel uint64_t find_words(const char *line) {
    static const char *const needles[] = {"velo", "ten1", "karara", "lormi"};
    uint64_t found = 0;
    for (unsigned i = 0; i < sizeof needles / sizeof needles[0]; i++)
        for (const char *at = line; (at = strstr(at, needles[i])); at++)
            found += (uint64_t)(at - line) + 1;
    return found;
}

int main(int count, char **arguments) {
    uint64_t rounds = argument(count, arguments, 1, 6000, "rounds");
    static struct dictionary dictionary;
    char line[LINE];
    uint64_t seed = 271828182, sum = 0;
    for (uint64_t i = 0; i < rounds; i++) {
        write_sentence(line, &seed);
        sum += find_words(line);
        count_words(&dictionary, line);
    }
    for (unsigned i = 0; i < dictionary.used; i++)
        sum = sum * 31 + dictionary.counts[i] + strlen(dictionary.words[i]);
    printf("strings %" PRIu64 "\n", sum);
    return 0;
}
