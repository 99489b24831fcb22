/* Human formatting: rounding across prefixes, UTF-8 safety, hostile names. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "util/text.h"

static void counts(void **state) {
    (void)state;
    assert_string_equal(text_count(0).s, "0");
    assert_string_equal(text_count(999).s, "999");
    assert_string_equal(text_count(1000).s, "1.00 k");
    assert_string_equal(text_count(8190211003).s, "8.19 G");
    assert_string_equal(text_count(50000000).s, "50.0 M");
    assert_string_equal(text_count(9994).s, "9.99 k");
    assert_string_equal(text_count(9996).s, "10.0 k");
    assert_string_equal(text_count(99960).s, "100 k");
    assert_string_equal(text_count(999499).s, "999 k");
    assert_string_equal(text_count(999999).s, "1.00 M"); /* not "1000 k" */
    assert_string_equal(text_count(UINT64_MAX).s, "18.4 E");
    assert_string_equal(text_grouped(0).s, "0");
    assert_string_equal(text_grouped(999).s, "999");
    assert_string_equal(text_grouped(1000).s, "1,000");
    assert_string_equal(text_grouped(8190211003).s, "8,190,211,003");
    assert_string_equal(text_grouped(UINT64_MAX).s, "18,446,744,073,709,551,615");
}

static void quantities(void **state) {
    (void)state;
    assert_string_equal(text_quantity(0.52).s, "0.52");
    assert_string_equal(text_quantity(0.0123).s, "0.012");
    assert_string_equal(text_quantity(0.0996).s, "0.10");
    assert_string_equal(text_quantity(0.0004).s, "0");
    assert_string_equal(text_quantity(10300000).s, "10.3 M");
    assert_string_equal(text_quantity(-2500).s, "-2.50 k");
    assert_string_equal(text_quantity(999.7).s, "1.00 k");
    assert_string_equal(text_quantity(0.0 / 0.0).s, "nan");
    assert_string_equal(text_quantity(1.0 / 0.0).s, "inf");
    assert_string_equal(text_percent(612, 1000).s, "61.2");
    assert_string_equal(text_percent(1, 0).s, "0.0");
    assert_string_equal(text_percent(-0.0001, 1).s, "0.0");
    assert_string_equal(text_percent(7, 7).s, "100.0");
    assert_true(text_shown(-0.004, 2) == 0 && !signbit(text_shown(-0.004, 2))); /* "-0.00" */
    assert_true(text_shown(-0.006, 2) == -0.006);
    assert_true(text_shown(-0.04, 1) == 0 && text_shown(-0.04, 2) == -0.04);
    assert_true(isnan(text_shown(NAN, 2)));
}

static void bytes_and_durations(void **state) {
    (void)state;
    assert_string_equal(text_bytes(0).s, "0 B");
    assert_string_equal(text_bytes(1023).s, "1023 B");
    assert_string_equal(text_bytes(1536).s, "1.50 KiB");
    assert_string_equal(text_bytes(200 << 20).s, "200 MiB");
    assert_string_equal(text_duration(0).s, "0 s");
    assert_string_equal(text_duration(840e-9).s, "840 ns");
    assert_string_equal(text_duration(12.34e-6).s, "12.3 us");
    assert_string_equal(text_duration(0.9996).s, "1.0 s");
    assert_string_equal(text_duration(6.12).s, "6.1 s");
    assert_string_equal(text_duration(59.96).s, "1 min 00 s");
    assert_string_equal(text_duration(123.4).s, "2 min 03 s");
    assert_string_equal(text_duration(3599.7).s, "1 h 00 min");
    assert_string_equal(text_duration(3720).s, "1 h 02 min");
    assert_string_equal(text_duration(86399).s, "1 d 00 h");
    assert_string_equal(text_duration(86400 * 3.2).s, "3 d 05 h");
    assert_string_equal(text_duration(-1).s, "?");
    assert_string_equal(text_duration(1.0 / 0.0).s, "?");
    assert_true(strlen(text_duration(1e300).s) < sizeof(struct text));
}

static void columns(void **state) {
    (void)state;
    assert_int_equal(text_columns(""), 0);
    assert_int_equal(text_columns("longest_match"), 13);
    assert_int_equal(text_columns("naïve"), 5);
    assert_int_equal(text_columns("nai\xcc\x88ve"), 5); /* combining diaeresis */
    assert_int_equal(text_columns("漢字"), 4);
    assert_int_equal(text_columns("\xff\xfe"), 2); /* malformed: '?' each */
}

static void fit(void **state) {
    (void)state;
    char buffer[64];
    assert_string_equal(text_fit(buffer, sizeof buffer, "abc", 5, TEXT_LEFT), "abc  ");
    assert_string_equal(text_fit(buffer, sizeof buffer, "abc", 5, TEXT_RIGHT), "  abc");
    assert_string_equal(text_fit(buffer, sizeof buffer, "abcde", 5, TEXT_LEFT), "abcde");
    assert_string_equal(text_fit(buffer, sizeof buffer, "abcdef", 5, TEXT_LEFT), "abcd…");
    assert_string_equal(text_fit(buffer, sizeof buffer, "abc", 0, TEXT_LEFT), "");
    assert_string_equal(text_fit(buffer, sizeof buffer, "naïve ö", 4, TEXT_LEFT), "naï…");
    /* A wide character that would straddle the limit leaves a space. */
    assert_string_equal(text_fit(buffer, sizeof buffer, "漢字漢", 4, TEXT_LEFT), "漢… ");
    /* A small buffer ends at a whole character. */
    assert_string_equal(text_fit(buffer, 4, "aéé", 3, TEXT_LEFT), "aé");
    assert_string_equal(text_fit(buffer, 1, "abc", 3, TEXT_LEFT), "");
}

static void hostile_names(void **state) {
    (void)state;
    char buffer[64];
    assert_string_equal(text_clean(buffer, sizeof buffer, "a\033[2Jb"), "a?[2Jb");
    assert_string_equal(text_clean(buffer, sizeof buffer, "a\r\nb\x7f"), "a??b?");
    assert_string_equal(text_clean(buffer, sizeof buffer, "\xc0\x80"), "??");      /* overlong */
    assert_string_equal(text_clean(buffer, sizeof buffer, "\xed\xa0\x80"), "???"); /* surrogate */
    assert_string_equal(text_clean(buffer, sizeof buffer, "x\xef\xbf\xbe"), "x?"); /* U+FFFE */
    assert_string_equal(text_clean(buffer, sizeof buffer, "x\xe2\x82"), "x??");    /* cut short */
    assert_string_equal(text_clean(buffer, sizeof buffer,
                                   "\xe2\x80\xae"
                                   "x"),
                        "?x"); /* override */
    assert_string_equal(text_clean(buffer, sizeof buffer,
                                   "\xc2\x9b"
                                   "x"),
                        "?x"); /* C1 CSI */
    assert_string_equal(text_clean(buffer, sizeof buffer, "\xf5\x80\x80\x80"), "????");
}

static void clip(void **state) {
    (void)state;
    char buffer[64];
    assert_string_equal(text_clip(buffer, sizeof buffer, "gzip", 4), "gzip");
    assert_string_equal(text_clip(buffer, sizeof buffer, "gzip", 9), "gzip");
    assert_string_equal(text_clip(buffer, sizeof buffer, "gzip -9", 5), "gzip…");
    assert_string_equal(text_clip(buffer, sizeof buffer, "a\033b", 5), "a?b");
}

/* Whatever the bytes, the result has exactly the columns asked for. */
static void fit_is_exact(void **state) {
    (void)state;
    uint32_t seed = 1;
    for (int round = 0; round < 20000; round++) {
        char text[24], buffer[4 * 24 + 1];
        size_t length = 0;
        for (size_t i = 0; i < sizeof text - 1; i++) {
            seed = seed * 1664525 + 1013904223;
            /* Bytes that make characters likely: leads, continuations, ASCII. */
            static const unsigned char pool[] =
                "a z\xc3\xa9\xe6\xbc\xa2\xf0\x9f\x98\x80\x80\x1b\xff";
            text[length++] = (char)pool[(seed >> 16) % (sizeof pool - 1)];
        }
        text[length] = '\0';
        unsigned wanted = (seed >> 8) % 24;
        text_fit(buffer, sizeof buffer, text, wanted, seed & 128 ? TEXT_LEFT : TEXT_RIGHT);
        assert_int_equal(text_columns(buffer), wanted);
    }
}

static void times(void **state) {
    (void)state;
    assert_string_equal(text_time(INT64_C(1767225600) * 1000000000).s, "2026-01-01T00:00:00Z");
    assert_string_equal(text_time(INT64_MAX).s, "2262-04-11T23:47:16Z");
    assert_string_equal(text_time(INT64_MIN).s, "1677-09-21T00:12:44Z");
}

static void words(void **state) {
    (void)state;
    static const struct {
        const char *word, *quoted;
    } CASES[] = {{"/a-b_c/1.db", "/a-b_c/1.db"},
                 {"", "''"},
                 {"a b", "'a b'"},
                 {"it's", "'it'\\''s'"},
                 {"a\n\tb\\c'\x1b", "$'a\\n\\tb\\\\c\\047\\033'"}};
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        char buffer[32] = "";
        FILE *file = fmemopen(buffer, sizeof buffer, "w");
        text_put_word(file, CASES[i].word);
        fclose(file);
        assert_string_equal(buffer, CASES[i].quoted);
    }
}

static void terminals(void **state) {
    (void)state;
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_int_equal(text_terminal_columns(file, NULL), 100);
    assert_false(text_use_colour(file));
    fclose(file);
}

static void options_are_words(void **state) {
    (void)state;
    char *text;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    assert_non_null(file);
    text_put_option(file, "store", "a b.db");
    text_put_option(file, "epoch", NULL);
    text_put_option(file, "event", "cycles");
    fclose(file);
    assert_string_equal(text, " --store 'a b.db' --event cycles");
    free(text);
}

static void a_text_is_cut_into_words(void **state) {
    (void)state;
    char text[] = "  gzip -9  -c ", empty[] = "";
    char **words = text_words(text, 1);
    assert_string_equal(words[0], "gzip");
    assert_string_equal(words[1], "-9");
    assert_string_equal(words[2], "-c");
    assert_null(words[3]);
    assert_null(words[4]);
    free(words);
    words = text_words(empty, 0);
    assert_null(words[0]);
    free(words);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts),
        cmocka_unit_test(quantities),
        cmocka_unit_test(bytes_and_durations),
        cmocka_unit_test(columns),
        cmocka_unit_test(fit),
        cmocka_unit_test(hostile_names),
        cmocka_unit_test(clip),
        cmocka_unit_test(fit_is_exact),
        cmocka_unit_test(times),
        cmocka_unit_test(words),
        cmocka_unit_test(a_text_is_cut_into_words),
        cmocka_unit_test(terminals),
        cmocka_unit_test(options_are_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
