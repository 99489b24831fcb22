/* Kanata logs of arbitrary lines: what is read can be drawn, as text and as JSON. */
#include "input.h"
#include "report/kanata_log.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static FILE *null;
    if (!null)
        require((null = fopen("/dev/null", "w")) != NULL);
    struct memory_file file = memory_file(data, size);
    struct kanata_log log;
    struct error error;
    if (kanata_log_read(&log, file.path, &error)) {
        const struct kanata_view view = {.from = UINT64_MAX, .cycles = size % 50, .top = 20};
        const struct page page = {.file = null, .columns = 100, .bold = "", .dim = "", .plain = ""};
        for (size_t i = 0; i < log.count; i++)
            require(log.rows[i].stages <= log.stage_count && log.rows[i].begin < log.end);
        for (size_t i = 0; i < log.stage_count; i++)
            require(log.stages[i].before <= i && log.stages[i].name < log.name_count);
        kanata_log_print(&log, &view, "log", &page);
        require(kanata_log_json(&log, &view, "log", null, &error));
    } else {
        require(error.message[0]);
    }
    kanata_log_free(&log);
    close(file.fd);
    return 0;
}
