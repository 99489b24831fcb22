/* What works on this machine, and the command that mends what does not. */
#pragma once

#include "live/findings.h"
#include "report/page.h"
#include "util/error.h"

void doctor_report_text(const struct doctor *doctor, const struct page *page);
bool doctor_report_json(const struct doctor *doctor, FILE *file, struct error *error);
