/* The table of formats. */
#include "exchange/format.h"

#include <string.h>

#include "util/text.h"

const struct exchange_row exchange_formats[EXCHANGE_FORMATS] = {
    [EXCHANGE_PPROF] = {.name = "pprof",
                        .viewer = "go tool pprof -top",
                        .write = export_pprof,
                        .read = import_pprof,
                        .ending = ".pb.gz",
                        .columns = true},
    [EXCHANGE_PERF_SCRIPT] = {.name = "perf-script",
                              .viewer = "stackcollapse-perf.pl",
                              .write = export_perf_script,
                              .read = import_perf_script},
    [EXCHANGE_FOLDED] = {.name = "folded",
                         .viewer = "flamegraph.pl",
                         .write = export_folded,
                         .ending = ".folded"},
    [EXCHANGE_CALLGRIND] = {.name = "callgrind",
                            .viewer = "callgrind_annotate --inclusive=yes",
                            .write = export_callgrind},
    [EXCHANGE_CACHEGRIND] = {.name = "cachegrind",
                             .viewer = "cg_annotate",
                             .write = export_cachegrind},
    [EXCHANGE_FIREFOX] = {.name = "firefox", .viewer = "samply load", .write = export_firefox},
    [EXCHANGE_OTLP] = {.name = "otlp",
                       .viewer = "protoc --decode_raw <",
                       .write = export_otlp,
                       .ending = ".otlp.pb",
                       .columns = true},
    [EXCHANGE_CSV] = {.name = "csv",
                      .viewer = "column -t -s,",
                      .write = export_csv,
                      .ending = ".csv"},
};

const char *exchange_format_name(enum exchange_format format) {
    return format < EXCHANGE_FORMATS ? exchange_formats[format].name : "";
}

const char *exchange_format_viewer(enum exchange_format format) {
    return exchange_formats[format].viewer;
}

bool exchange_format_has_columns(enum exchange_format format) {
    return exchange_formats[format].columns;
}

bool exchange_format_is_read(enum exchange_format format) {
    return exchange_formats[format].read;
}

bool exchange_format_find(const char *name, enum exchange_format *format) {
    for (*format = 0; *format < EXCHANGE_FORMATS; ++*format)
        if (!strcmp(name, exchange_formats[*format].name))
            return true;
    return false;
}

bool exchange_format_of_file(const char *path, enum exchange_format *format) {
    for (*format = 0; *format < EXCHANGE_FORMATS; ++*format)
        if (exchange_formats[*format].ending &&
            text_ends_with(path, exchange_formats[*format].ending))
            return true;
    return false;
}
