/* host.c - see host.h. */
#include "job/host.h"

#include <stdarg.h>

#include "base/str.h"

void job_progress(const struct job_host *host, const char *format, ...)
{
	str_auto struct str text = {0};
	va_list args;

	if (!host->show_progress)
		return;
	if (format) {
		va_start(args, format);
		str_addv(&text, format, args);
		va_end(args);
	}
	host->show_progress(host->context, format ? str_text(&text) : NULL);
}

void job_tell(const struct job_host *host, const char *text)
{
	if (host->tell)
		host->tell(host->context, text);
}

struct interrupt job_interrupted(const struct job_host *host)
{
	return host->interrupted ? host->interrupted() : (struct interrupt){0};
}
