/* The events that can be sampled and counted, and which of them this machine has. */
#pragma once

#include "report/page.h"

void event_list_text(const struct page *page);
