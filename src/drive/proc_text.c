/* proc_text.c - see proc_text.h.
 *
 * pread() at offset 0 has the kernel write the file anew, so one descriptor serves all readings. */
#include "proc_text.h"

#include <unistd.h>

bool proc_head_read(int fd, char *text, size_t capacity)
{
	ssize_t got = fd < 0 ? -1 : pread(fd, text, capacity - 1, 0);

	text[got > 0 ? got : 0] = '\0';
	return got > 0;
}

bool proc_number_read(const char *text, uint64_t *ret_value, const char **ret_end)
{
	uint64_t value = 0;

	if (*text < '0' || *text > '9')
		return false;
	for (; *text >= '0' && *text <= '9'; text++)
		value = value * 10 + (uint64_t)(*text - '0');
	*ret_value = value;
	if (ret_end)
		*ret_end = text;
	return true;
}
