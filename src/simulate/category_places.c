/* Every static instruction is looked up in the debugging information once. */
#include "simulate/category_places.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/function_name.h"
#include "program/program.h"
#include "util/array.h"

enum { MOST_PLACES = 64, MOST_TOLD = 3 };

struct place {
    uint32_t category;
    const char *text; /* as given */
    size_t length;
    uint64_t from, to; /* addresses, both included; 0, 0: not this kind */
    size_t file;       /* length of the file's name; 0: not this kind */
    uint32_t line;
    bool exact; /* a function of just that name is known: no other is meant */
    bool met;
    const char *met_as[MOST_TOLD]; /* functions that it is the end of, the first of `met_count` */
    uint32_t met_count;
};

struct category_places {
    struct categories *categories;
    struct place list[MOST_PLACES];
    uint32_t count;
    bool by_name;     /* any of them */
    uint32_t insns;   /* known so far */
    uint32_t *images; /* numbers in `program` of the code's images */
    size_t image_count, image_capacity;
    struct program *program;
};

static bool take_place(struct place *place, struct error *error) {
    char *end;
    const char *text = place->text;
    if (place->length > 2 && !strncmp(text, "0x", 2)) {
        place->from = place->to = strtoull(text, &end, 16);
        if (*end == '-')
            place->to = strtoull(end + 1, &end, 16);
        return (end == text + place->length && place->to >= place->from && place->to) ||
               error_set(error, "'%.*s': an address or a range of them", (int)place->length, text);
    }
    const char *colon = memrchr(text, ':', place->length);
    if (colon && colon > text && colon[-1] != ':' && colon + 1 < text + place->length) {
        unsigned long line = strtoul(colon + 1, &end, 10);
        if (end == text + place->length && line && line <= UINT32_MAX) {
            place->file = (size_t)(colon - text);
            place->line = (uint32_t)line;
        }
    }
    return place->length || error_set(error, "a place is missing between the commas");
}

static bool take_places(struct category_places *places, uint32_t category, const char *text,
                        struct error *error) {
    /* A comma between parentheses is one of a function's parameters. */
    for (const char *begin = text, *at = text;; at++) {
        static const char OPEN[] = "(<", CLOSE[] = ")>";
        int depth = 0;
        for (const char *c = begin; c < at; c++)
            depth += (strchr(OPEN, *c) != NULL) - (strchr(CLOSE, *c) != NULL);
        if (*at && (*at != ',' || depth > 0))
            continue;
        if (places->count == MOST_PLACES)
            return error_set(error, "more than %d places", MOST_PLACES);
        struct place *place = &places->list[places->count++];
        *place =
            (struct place){.category = category, .text = begin, .length = (size_t)(at - begin)};
        if (!take_place(place, error))
            return false;
        places->by_name |= place->to == 0;
        if (!*at)
            return true;
        begin = at + 1;
    }
}

struct category_places *category_places_new(struct categories *categories, const char *const *texts,
                                            struct error *error) {
    struct category_places *places = calloc(1, sizeof *places);
    if (!places || !(places->program = program_new())) {
        error_set(error, "out of memory for the places of categories");
        category_places_free(places);
        return NULL;
    }
    places->categories = categories;
    for (uint32_t i = 0; i < categories->count; i++) {
        if (!texts[i])
            continue;
        memset(categories->list[i].insns, 0, CATEGORY_INSNS / 8);
        if (!take_places(places, i, texts[i], error)) {
            error_prefix(error, "category %s", categories->list[i].name);
            category_places_free(places);
            return NULL;
        }
    }
    return places;
}

static bool is_named(const struct place *place, const char *function) {
    return function_is_named(function, place->text, place->length);
}

/* Names live as long as the program; NULL: there is none. */
static bool is_function(struct place *place, const char *function) {
    if (!function)
        return false;
    if (is_named(place, function))
        return true;
    if (place->exact || !function_ends_in(function, place->text, place->length))
        return false;
    for (uint32_t i = 0; i < place->met_count; i++)
        if (!strcmp(place->met_as[i], function))
            return true;
    if (place->met_count < MOST_TOLD)
        place->met_as[place->met_count++] = function;
    return true;
}

static bool is_line(const struct place *place, const char *file, uint32_t line) {
    if (!file || !place->file || line != place->line)
        return false;
    const size_t length = strlen(file);
    if (length < place->file)
        return false;
    const char *tail = file + length - place->file;
    return !strncmp(tail, place->text, place->file) && (tail == file || tail[-1] == '/');
}

static bool is_there(struct place *place, const struct static_insn *insn,
                     const struct location *location) {
    if (place->to)
        return insn->address >= place->from && insn->address <= place->to;
    if (is_function(place, location->function) || is_line(place, location->file, location->line))
        return true;
    return any_where(i, location->inline_count,
                     is_function(place, location->inlined[i].function) ||
                         is_line(place, location->inlined[i].file, location->inlined[i].line));
}

static bool see_function(void *context, const struct program_function *function) {
    struct category_places *places = context;
    for (uint32_t i = 0; i < places->count; i++)
        places->list[i].exact |= is_named(&places->list[i], function->name);
    return true;
}

static bool add_images(struct category_places *places, const struct code *code) {
    if (!array_room(places->images, places->image_capacity, code->image_count))
        return false;
    for (; places->image_count < code->image_count; places->image_count++) {
        const struct code_image *image = &code->images[places->image_count];
        places->images[places->image_count] =
            image->kind == CODE_IMAGE_FILE
                ? program_add_image(places->program, image->path, image->build_id,
                                    image->build_id_size)
                : UINT32_MAX;
        if (places->by_name && image->kind == CODE_IMAGE_FILE)
            program_each_function(places->program, places->images[places->image_count],
                                  see_function, places);
    }
    return true;
}

static bool learn(void *context, const struct code *code, struct error *error) {
    struct category_places *places = context;
    if (code->insn_count > CATEGORY_INSNS)
        return error_set(error, "categories with places: more than %d static instructions",
                         CATEGORY_INSNS);
    if (!add_images(places, code))
        return error_set(error, "out of memory for the places of categories");
    for (; places->insns < code->insn_count; places->insns++) {
        const struct static_insn *insn = &code->insns[places->insns];
        struct location location = {0};
        if (places->by_name)
            program_locate(places->program, places->images[insn->image], insn->offset, &location);
        for (uint32_t i = 0; i < places->count; i++) {
            struct place *place = &places->list[i];
            if (!is_there(place, insn, &location))
                continue;
            uint32_t *word = &places->categories->list[place->category].insns[places->insns / 32];
            /* The graph may be evaluated on another thread, which reads bits beside this one. */
            __atomic_fetch_or(word, 1u << places->insns % 32, __ATOMIC_RELAXED);
            place->met = true;
        }
    }
    return true;
}

static bool attach(void *context, struct tap_source source, struct tap *tap, void **state,
                   struct error *error) {
    (void)context;
    (void)source;
    (void)tap;
    (void)state;
    (void)error;
    return true;
}

struct simulation_observer category_places_observer(struct category_places *places) {
    return (struct simulation_observer){.attach = attach, .learn = learn, .context = places};
}

bool category_places_read(struct category_places *places, struct trace *trace,
                          const volatile sig_atomic_t *stop, struct error *error) {
    struct trace_batch batch;
    int status;
    while ((status = trace_next(trace, &batch, error)) > 0 && !*stop)
        continue;
    return status >= 0 && learn(places, trace_code(trace), error);
}

/* What may have been meant by a function that is not there: those with its last word in their
 * name. */
struct candidates {
    const char *word;
    size_t length;
    char text[300];
    uint32_t count;
};

static bool offer(void *context, const struct program_function *function) {
    struct candidates *candidates = context;
    size_t used = strlen(candidates->text);
    if (function->name &&
        memmem(function->name, strlen(function->name), candidates->word, candidates->length))
        snprintf(candidates->text + used, sizeof candidates->text - used, "%s%.80s",
                 candidates->count++ ? ", " : "", function->name);
    return candidates->count < 3;
}

static void find_candidates(const struct category_places *places, const struct place *place,
                            struct candidates *candidates) {
    const char *end = place->text + place->length, *word = end;
    while (word > place->text && (isalnum((unsigned char)word[-1]) || word[-1] == '_'))
        word--;
    *candidates = (struct candidates){.word = word, .length = (size_t)(end - word)};
    for (size_t i = 0; candidates->length && !place->file && !place->to && i < places->image_count;
         i++)
        if (places->images[i] != UINT32_MAX && candidates->count < 3)
            program_each_function(places->program, places->images[i], offer, candidates);
}

bool category_places_tell(const struct category_places *places,
                          bool (*tell)(void *context, const char *text), void *context) {
    bool good = true;
    for (uint32_t i = 0; i < places->count; i++) {
        const struct place *place = &places->list[i];
        const char *name = places->categories->list[place->category].name;
        struct candidates candidates;
        char text[800], known[400] = "";
        if (place->met && !place->met_count)
            continue;
        find_candidates(places, place, &candidates);
        for (uint32_t k = 0; k < place->met_count; k++) {
            size_t used = strlen(known);
            snprintf(known + used, sizeof known - used, "%s%.120s", k ? ", " : "",
                     place->met_as[k]);
        }
        if (place->met)
            snprintf(text, sizeof text, "category %s: '%.*s' is %s%s", name, (int)place->length,
                     place->text, known, place->met_count == MOST_TOLD ? " ..." : "");
        else
            snprintf(text, sizeof text, "category %s: no instruction was executed at '%.*s'%s%s%s",
                     name, (int)place->length, place->text, candidates.count ? " (there is: " : "",
                     candidates.text, candidates.count ? ")" : "");
        good &= tell(context, text);
    }
    return good;
}

static bool keep_text(void *context, const char *text) {
    struct error *error = context;
    return error_set(error, "%s", text);
}

bool category_places_met(const struct category_places *places, struct error *error) {
    uint32_t met = 0;
    for (uint32_t i = 0; i < places->count; i++)
        met |= places->list[i].met ? 1u << places->list[i].category : 0;
    bool all = true;
    for (uint32_t i = 0; i < places->categories->count; i++)
        all &= places->categories->list[i].insns != NULL;
    if (met || !all)
        return true;
    category_places_tell(places, keep_text, error);
    return false;
}

void category_places_free(struct category_places *places) {
    if (!places)
        return;
    program_free(places->program);
    free(places->images);
    free(places);
}
