/* xml.c - see xml.h. */
#include "xml.h"

#include <string.h>

void xml_add(struct str *out, const char *text, size_t len)
{
	static const char odd[] = "<>&\"'";
	static const char *const entities[] = {"&lt;", "&gt;", "&amp;", "&quot;", "&#39;"};

	for (size_t i = 0; i < len;) {
		size_t step = str_utf8_length(text + i, len - i);
		const char *found = step == 1 ? strchr(odd, text[i]) : NULL;

		if (!step || (step == 1 && (unsigned char)text[i] < 0x20) ||
			(step == 3 && memcmp(text + i, "\xef\xbf\xbe", 2) == 0 &&
				(unsigned char)text[i + 2] >= 0xbe))
			str_add(out, "\xef\xbf\xbd");
		else if (found)
			str_add(out, entities[found - odd]);
		else
			str_add_bytes(out, text + i, step);
		i += step ? step : 1;
	}
}
