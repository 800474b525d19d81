/* site.h - what the reports of `assay branches` and `assay cache` share. */
#pragma once

#include "base/str.h"

struct site_summary;

/* "# Title", target, machine and engine. */
void site_head_markdown(struct str *out, const char *title, const struct site_summary *summary);
void site_metrics_markdown(struct str *out, const struct site_summary *summary);
