/* host.c - see host.h. */
#include "job/host.h"

#include <stdarg.h>

#include "base/clock.h"
#include "base/str.h"
#include "model/run.h"

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
	return interrupt_now(host->interrupted);
}

void job_begin_run(const struct job_host *host, struct run *run)
{
	run->started_ns = clock_realtime_ns();
	run->command = run_intern(run, host->command);
	run->target = run_intern(run, host->target);
}
