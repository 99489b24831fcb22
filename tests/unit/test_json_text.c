/* Names as texts of JSON: control characters as they are, what is no text replaced. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "util/json_text.h"
#include "util/text.h"

/* Its JSON, which jansson reads back as `read`. */
static void assert_json(const char *name, const char *wanted, const char *read) {
    struct text_printer printer;
    FILE *file = text_printer_begin(&printer);
    assert_non_null(file);
    assert_true(json_text_write(name, file));
    char *text = text_printer_end(&printer);
    assert_non_null(text);
    assert_string_equal(text, wanted);
    json_t *value = json_loads(text, JSON_DECODE_ANY, NULL);
    assert_non_null(value);
    assert_string_equal(json_string_value(value), read);
    json_decref(value);
    free(text);
}

static void control_characters_are_escaped(void **state) {
    (void)state;
    assert_json("a\nb\tc", "\"a\\nb\\tc\"", "a\nb\tc");
    assert_json("\033[2J\001", "\"\\u001B[2J\\u0001\"", "\033[2J\001");
    assert_json("\"\\", "\"\\\"\\\\\"", "\"\\");
}

/* Neither a terminal is steered by what JSON does not escape, nor is anything no UTF-8. */
static void the_rest_is_replaced(void **state) {
    (void)state;
    assert_json("x\xff\ny\xe2\x82", "\"x?\\ny??\"", "x?\ny??");
    assert_json("\xc2\x9b"
                "31m\x7f",
                "\"?31m?\"", "?31m?");
    assert_json("\xe2\x80\xaex", "\"?x\"", "?x");
    assert_json("na\xc3\xafve", "\"na\xc3\xafve\"", "na\xc3\xafve");
}

/* As a command line can be. */
static void a_long_name_is_whole(void **state) {
    (void)state;
    enum { LENGTH = 100000 };
    char *name = calloc(1, LENGTH + sizeof "\xc3\xaf");
    assert_non_null(name);
    memset(name, '\n', LENGTH);
    memcpy(name + LENGTH, "\xc3\xaf", 2);
    json_t *value = json_text(name);
    assert_non_null(value);
    assert_string_equal(json_string_value(value), name);
    json_decref(value);
    free(name);
}

static void none_is_null(void **state) {
    (void)state;
    json_t *value = json_text(NULL);
    assert_true(json_is_null(value));
    json_decref(value);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(control_characters_are_escaped),
        cmocka_unit_test(the_rest_is_replaced),
        cmocka_unit_test(a_long_name_is_whole),
        cmocka_unit_test(none_is_null),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
