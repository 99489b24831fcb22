/* The loop of cksum: a file, read in pieces, is folded by carry-less multiplication. AHEAD: bytes
 * that each round touches ahead (0: none), as a prefetch that the simulation sees. */
#include <fcntl.h>
#include <immintrin.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE = 64, BUFFER = 1 << 16 };
static uint8_t buffer[BUFFER] __attribute__((aligned(LINE)));

__attribute__((noinline, target("pclmul,ssse3,avx"))) static void kernel_fold(size_t bytes,
                                                                              __m128i sums[4]) {
    const __m128i factors = _mm_set_epi64x(0x8833794c, 0xe6228b11);
    const __m128i reversed = _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    for (size_t at = 0; at + LINE <= bytes; at += LINE) {
        if (AHEAD) {
            uint8_t touched;
            __asm__ volatile("movb %1, %0" : "=r"(touched) : "m"(buffer[(at + AHEAD) % BUFFER]));
        }
        for (int i = 0; i < 4; i++) {
            const __m128i piece = _mm_load_si128((const __m128i *)(buffer + at) + i);
            const __m128i low = _mm_clmulepi64_si128(sums[i], factors, 0x00);
            const __m128i high = _mm_clmulepi64_si128(sums[i], factors, 0x11);
            sums[i] = _mm_xor_si128(_mm_xor_si128(low, high), _mm_shuffle_epi8(piece, reversed));
        }
    }
}

int main(int argc, char **argv) {
    __m128i sums[4] = {0};
    uint64_t words[8];
    if (argc < 3)
        return 2;
    const int file = open(argv[1], O_RDONLY);
    const size_t piece = strtoul(argv[2], NULL, 10);
    if (file < 0 || piece > BUFFER)
        return 1;
    for (ssize_t bytes; (bytes = read(file, buffer, piece)) > 0;)
        kernel_fold((size_t)bytes, sums);
    memcpy(words, sums, sizeof words);
    printf("%lx\n", words[0] ^ words[3] ^ words[5] ^ words[6]);
    return 0;
}
