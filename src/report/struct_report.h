/* The map of a struct (study/struct_run.h) as text and JSON. */
#pragma once

#include <jansson.h>

#include "report/page.h"
#include "simulate/simulate.h"

struct struct_run;

void struct_text(const struct struct_run *run, const struct page *page);
json_t *struct_json(const struct struct_run *run);
