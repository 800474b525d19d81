/* xml.h - texts of others inside XML that we write. */
#pragma once

#include "base/str.h"

/* As text or attribute.  What is not shown (str.h) and what XML cannot hold (U+FFFE, U+FFFF) is
 * U+FFFD. */
void xml_add(struct str *out, const char *text, size_t len);

/* The same without entities, for a script that puts it there. */
void xml_add_held(struct str *out, const char *text, size_t len);
