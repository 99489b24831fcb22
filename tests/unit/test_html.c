/* Pages: data are escaped so that no text in them ends their element, texts become JSON, and a page
 * without data is an error. */
#include "report/html.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>

#include <cmocka.h>

static char *text;
static size_t size;

static FILE *begin(struct html *html) {
    FILE *file = open_memstream(&text, &size);
    assert_non_null(file);
    html_begin(html, file);
    return file;
}

static void end(FILE *file) {
    assert_int_equal(fclose(file), 0);
}

static void test_data_cannot_end_their_element(void **state) {
    (void)state;
    struct html html;
    struct error error;
    FILE *file = begin(&html);
    assert_true(html_data(&html, "report", &error));
    fputs("{\"name\":\"</script><!-- a\\\"b\"}", html.data);
    assert_true(html_end(&html, &error));
    end(file);
    assert_non_null(strstr(text, "<script type=\"application/json\" id=\"report\">"
                                 "{\"name\":\"\\u003c/script>\\u003c!-- a\\\"b\"}</script>"));
    assert_memory_equal(text, "<!doctype html>", 15);
    assert_string_equal(text + size - strlen("</html>\n"), "</html>\n");
    free(text);
}

static void test_a_text_becomes_json(void **state) {
    (void)state;
    struct html html;
    struct error error;
    FILE *file = begin(&html);
    assert_true(html_data(&html, "report", &error));
    fputs("{}", html.data);
    assert_true(html_text(&html, "picture", &error));
    fputs("<svg a=\"b\">\n\\ \x01</svg>", html.data);
    assert_true(html_data(&html, "profile", &error));
    fputs("[\"a\\\"b\"]", html.data);
    assert_true(html_end(&html, &error));
    end(file);
    assert_non_null(strstr(text, "id=\"report\">{}</script>\n"));
    assert_non_null(strstr(text, "id=\"picture\">\"\\u003csvg a=\\u0022b\\u0022>\\u000a\\u005c "
                                 "\\u0001\\u003c/svg>\"</script>\n"));
    assert_non_null(strstr(text, "id=\"profile\">[\"a\\\"b\"]</script>\n"));
    free(text);
}

static void test_a_page_without_data_is_an_error(void **state) {
    (void)state;
    struct html html;
    struct error error;
    FILE *file = begin(&html);
    assert_true(html_data(&html, "report", &error));
    assert_false(html_end(&html, &error));
    assert_string_equal(error.message, "there is no page of this report");
    end(file);
    free(text);
    html_discard(&html);
}

static void test_a_full_disk_is_told(void **state) {
    (void)state;
    struct html html;
    struct error error;
    FILE *file = fopen("/dev/full", "w");
    assert_non_null(file);
    html_begin(&html, file);
    bool good = html_data(&html, "report", &error);
    if (good) {
        for (int i = 0; i < 100000; i++)
            fputs("0123456789", html.data);
        good = html_end(&html, &error);
    }
    assert_false(good);
    assert_non_null(strstr(error.message, "writing the page"));
    html_discard(&html);
    fclose(file);
}

static void test_what_is_discarded_leaves_nothing_open(void **state) {
    (void)state;
    struct html html;
    struct error error;
    FILE *file = begin(&html);
    assert_true(html_data(&html, "report", &error));
    fputs("{", html.data);
    html_discard(&html);
    assert_null(html.data);
    html_discard(&html);
    end(file);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_data_cannot_end_their_element),
        cmocka_unit_test(test_a_text_becomes_json),
        cmocka_unit_test(test_a_page_without_data_is_an_error),
        cmocka_unit_test(test_a_full_disk_is_told),
        cmocka_unit_test(test_what_is_discarded_leaves_nothing_open),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
