/* xml.c - see xml.h. */
#include "xml.h"

#include <string.h>

/* Whether XML can hold the character, and a reader be shown it. */
static bool is_held(uint32_t point)
{
	return str_is_shown(point) && (point & ~1U) != 0xfffe;
}

void xml_add_held(struct str *out, const char *text, size_t len)
{
	uint32_t point;
	size_t step;

	for (size_t i = 0; i < len; i += step) {
		step = str_next(text + i, len - i, &point);
		if (is_held(point))
			str_add_bytes(out, text + i, step);
		else
			str_add(out, "\xef\xbf\xbd");
	}
}

void xml_add(struct str *out, const char *text, size_t len)
{
	static const char odd[] = "<>&\"'";
	static const char *const entities[] = {"&lt;", "&gt;", "&amp;", "&quot;", "&#39;"};

	for (size_t i = 0; i < len;) {
		uint32_t point;
		size_t step = str_next(text + i, len - i, &point);
		const char *found = step == 1 && point ? strchr(odd, text[i]) : NULL;

		if (!is_held(point))
			str_add(out, "\xef\xbf\xbd");
		else if (found)
			str_add(out, entities[found - odd]);
		else
			str_add_bytes(out, text + i, step);
		i += step;
	}
}
