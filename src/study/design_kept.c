#include "study/design_kept.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/file_name.h"
#include "util/output.h"

enum { PIECE = 1 << 20, FORMAT = 1 };

/* Of a file that is open for writing, as NFS wants it. */
bool design_lock(const char *folder, int *lock, struct error *error) {
    char *path;
    if (asprintf(&path, "%s/.lock", folder) < 0)
        return error_set(error, "out of memory for a folder");
    *lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    const bool good = *lock >= 0 || error_errno(error, "%.300s", folder);
    free(path);
    return good && (flock(*lock, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK ||
                    error_set(error, "%.300s: another culprit works in it", folder));
}

/* ---- keys ---- */

void design_key(XXH128_hash_t hash, char key[DESIGN_KEY]) {
    snprintf(key, DESIGN_KEY, "%016" PRIx64 "%016" PRIx64, (uint64_t)hash.high64,
             (uint64_t)hash.low64);
}

bool design_hash_descriptor(XXH3_state_t *state, int descriptor, off_t from) {
    char *piece = malloc(PIECE);
    ssize_t size = piece ? 1 : -1;
    for (; piece && (size = pread(descriptor, piece, PIECE, from)) > 0; from += size)
        XXH3_128bits_update(state, piece, (size_t)size);
    free(piece);
    return size == 0;
}

bool design_hash_machine(XXH3_state_t *state, const struct machine *machine, struct error *error) {
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    if (!file)
        return error_set(error, "out of memory for a machine");
    machine_print(machine, file);
    const bool good = fclose(file) == 0 || error_set(error, "out of memory for a machine");
    if (good) {
        XXH3_128bits_update(state, text, size);
        XXH3_128bits_update(state, machine->forms, machine->form_count * sizeof *machine->forms);
    }
    free(text);
    return good;
}

bool design_hash_file(XXH3_state_t *state, const char *path, struct error *error) {
    FILE *file = fopen(path, "re");
    if (!file)
        return error_errno(error, "%.200s", path);
    struct stat status;
    const bool regular = fstat(fileno(file), &status) == 0 && S_ISREG(status.st_mode);
    const bool good = regular && design_hash_descriptor(state, fileno(file), 0);
    if (!regular)
        error_set(error, "%.200s: must be a regular file, as it is read more than once", path);
    else if (!good)
        error_errno(error, "%.200s", path);
    fclose(file);
    return good;
}

/* ---- files ---- */

static char *path_of(const char *folder, const char *key, const char *ending) {
    char *path;
    return asprintf(&path, "%s/%s%s", folder, key, ending) < 0 ? NULL : path;
}

static json_t *load(const char *folder, const char *key, const char *ending) {
    char *path = path_of(folder, key, ending);
    json_error_t where;
    json_t *object = path ? json_load_file(path, JSON_REJECT_DUPLICATES, &where) : NULL;
    free(path);
    return object;
}

/* Takes the object. */
static bool store(const char *folder, const char *key, const char *ending, json_t *object,
                  struct error *error) {
    char *path = path_of(folder, key, ending);
    struct output output = {0};
    bool good = (object && path) || error_set(error, "out of memory for what is kept");
    good = good && output_open(&output, "--keep", path, NULL, error);
    output.durable = true;
    if (good && json_dumpf(object, output.file, JSON_INDENT(1)) != 0)
        good = error_errno(error, "--keep %.200s", folder);
    good = good && output_close(&output, error);
    output_discard(&output);
    json_decref(object);
    free(path);
    return good;
}

/* ---- a point ---- */

bool design_kept_point(const char *folder, const char *key, struct design_result *result) {
    json_t *object = load(folder, key, DESIGN_POINT_ENDING), *components;
    json_int_t format, cycles, instructions;
    double half;
    bool good = object && json_unpack(object, "{s:I, s:I, s:I, s:F, s:o}", "format", &format,
                                      "cycles", &cycles, "instructions", &instructions,
                                      "half_interval_95", &half, "components", &components) == 0;
    good = good && format == FORMAT && cycles > 0 && instructions > 0 && isfinite(half);
    for (int i = 0; good && i < COMPONENT_COUNT; i++) {
        const json_t *units = json_object_get(components, component_key((enum component)i));
        good = json_is_integer(units) && json_integer_value(units) >= 0;
        result->components[i] = (uint64_t)json_integer_value(units);
    }
    if (good) {
        result->cycles = (uint64_t)cycles;
        result->instructions = (uint64_t)instructions;
        result->half_interval = half;
    }
    json_decref(object);
    return good;
}

bool design_keep_point(const char *folder, const char *key, const struct design_result *result,
                       struct error *error) {
    json_t *components = json_object();
    for (int i = 0; i < COMPONENT_COUNT; i++)
        json_object_set_new(components, component_key((enum component)i),
                            json_integer((json_int_t)result->components[i]));
    return store(folder, key, DESIGN_POINT_ENDING,
                 json_pack("{s:i, s:I, s:I, s:f, s:o}", "format", FORMAT, "cycles",
                           (json_int_t)result->cycles, "instructions",
                           (json_int_t)result->instructions, "half_interval_95",
                           result->half_interval, "components", components),
                 error);
}

/* ---- a capture ---- */

static bool take_region(const char *folder, json_t *object, struct design_region *region) {
    json_int_t start, end, warm, process, thread, first, cluster, stands_for;
    const char *name;
    if (json_unpack(object, "{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "trace", &name,
                    "start", &start, "end", &end, "warm", &warm, "process", &process, "thread",
                    &thread, "first", &first, "cluster", &cluster, "stands_for",
                    &stands_for) != 0 ||
        start < 0 || end <= start || warm < 0 || process < 0 || thread < 0 || first < 0 ||
        cluster < 0 || stands_for < 0 || process > INT32_MAX || thread > INT32_MAX ||
        cluster > INT32_MAX || strchr(name, '/'))
        return false;
    *region = (struct design_region){.path = path_of(folder, name, ""),
                                     .start = (uint64_t)start,
                                     .end = (uint64_t)end,
                                     .warm = (uint64_t)warm,
                                     .process = (uint32_t)process,
                                     .thread = (uint32_t)thread,
                                     .first = (uint64_t)first,
                                     .cluster = (uint32_t)cluster,
                                     .stands_for = (uint64_t)stands_for};
    return region->path && access(region->path, R_OK) == 0;
}

static bool take_capture(const char *folder, json_t *object, struct design_capture *capture) {
    json_int_t format, how, isa, instructions, slices, status;
    const char *identity;
    json_t *regions;
    if (!object ||
        json_unpack(object, "{s:I, s:I, s:I, s:I, s:I, s:I, s:s, s:o}", "format", &format, "how",
                    &how, "isa", &isa, "instructions", &instructions, "slices", &slices, "status",
                    &status, "identity", &identity, "regions", &regions) != 0)
        return false;
    const char *trace = json_string_value(json_object_get(object, "trace"));
    const size_t count = json_array_size(regions);
    if (format != FORMAT || how < 0 || how > DESIGN_SAMPLED || isa < 0 || isa >= ISA_COUNT ||
        instructions <= 0 || slices < 0 || strlen(identity) != DESIGN_KEY - 1 ||
        (how == DESIGN_BY_REGIONS) != (count > 0) || (trace && strchr(trace, '/')) ||
        (how == DESIGN_BY_REGIONS && trace))
        return false;
    capture->how = (enum design_how)how;
    capture->isa = (enum isa)isa;
    capture->instructions = (uint64_t)instructions;
    capture->slices = (uint64_t)slices;
    capture->status = (int)status;
    capture->cut = json_is_true(json_object_get(object, "cut"));
    memcpy(capture->identity, identity, DESIGN_KEY);
    capture->regions = calloc(count + 1, sizeof *capture->regions);
    if (!capture->regions)
        return false;
    if (trace)
        capture->trace = path_of(folder, trace, "");
    for (; capture->region_count < count; capture->region_count++)
        if (!take_region(folder, json_array_get(regions, capture->region_count),
                         &capture->regions[capture->region_count])) {
            capture->region_count++;
            return false;
        }
    return !trace || (capture->trace && access(capture->trace, R_OK) == 0);
}

bool design_kept_capture(const char *folder, const char *key, struct design_capture *capture) {
    json_t *object = load(folder, key, ".capture.json");
    const bool good = take_capture(folder, object, capture);
    json_decref(object);
    if (!good)
        design_capture_free(capture);
    return good;
}

/* A file of the folder goes by its name, so that the folder may be moved; the user's own trace is
 * known to whoever asks. */
static const char *name_in(const char *folder, const char *path) {
    const size_t length = strlen(folder);
    return path && !strncmp(path, folder, length) && path[length] == '/' ? file_base_name(path)
                                                                         : NULL;
}

bool design_keep_capture(const char *folder, const char *key, const struct design_capture *capture,
                         struct error *error) {
    json_t *regions = json_array();
    for (size_t i = 0; i < capture->region_count; i++) {
        const struct design_region *region = &capture->regions[i];
        json_array_append_new(
            regions,
            json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "trace",
                      name_in(folder, region->path), "start", (json_int_t)region->start, "end",
                      (json_int_t)region->end, "warm", (json_int_t)region->warm, "process",
                      (json_int_t)region->process, "thread", (json_int_t)region->thread, "first",
                      (json_int_t)region->first, "cluster", (json_int_t)region->cluster,
                      "stands_for", (json_int_t)region->stands_for));
    }
    return store(folder, key, ".capture.json",
                 json_pack("{s:i, s:i, s:i, s:I, s:I, s:i, s:b, s:s, s:s?, s:o}", "format", FORMAT,
                           "how", capture->how, "isa", capture->isa, "instructions",
                           (json_int_t)capture->instructions, "slices", (json_int_t)capture->slices,
                           "status", capture->status, "cut", (int)capture->cut, "identity",
                           capture->identity, "trace", name_in(folder, capture->trace), "regions",
                           regions),
                 error);
}
