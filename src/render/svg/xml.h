/* xml.h - texts of others inside XML that we write. */
#pragma once

#include "base/str.h"

/* As text or attribute.  What XML cannot hold (control characters, bad UTF-8, U+FFFE, U+FFFF) is
 * U+FFFD. */
void xml_add(struct str *out, const char *text, size_t len);
