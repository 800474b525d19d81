/* markdown.h - texts of others inside Markdown that we write. */
#pragma once

#include <stdbool.h>

#include "base/str.h"

/* As a code span that the text cannot close; in a table, neither can it end the cell. */
void markdown_code(struct str *out, const char *text, bool in_table);
