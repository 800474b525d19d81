/* export.c - the table of formats, and what several of them need. */
#include "export_parts.h"

#include <string.h>

const struct export_format export_formats[] = {
	{"folded", "assay.folded", "flamegraph.pl, inferno, speedscope", WALK_MERGED, false, true,
		NULL, export_folded},
	{"pprof", "assay.pb.gz", "go tool pprof, Pyroscope, speedscope", WALK_MERGED, false, false,
		export_pprof, NULL},
	{"speedscope", "assay.speedscope.json", "speedscope", WALK_BY_THREAD, true, true,
		export_speedscope, NULL},
	{"firefox", "assay.firefox.json", "profiler.firefox.com", WALK_BY_THREAD, false, false,
		export_firefox, NULL},
	{"perfscript", "assay.perf.txt", "everything that reads `perf script`", WALK_BY_TIME, false,
		false, export_perf_script, NULL},
	{"chrome", "assay.trace.json", "Perfetto, chrome://tracing", WALK_BY_THREAD, false, false,
		export_chrome, NULL},
	{"json", "assay.profile.json", "your own script", WALK_BY_TIME, true, false, export_json,
		NULL},
	{0},
};

static bool is_plain(uint32_t point, char separator)
{
	return point == STR_NO_POINT || (str_is_shown(point) && point != (unsigned char)separator);
}

void export_plain(struct str *out, const char *text, char separator)
{
	size_t left = strlen(text), plain, step = 0;
	uint32_t point;

	while (left) {
		for (plain = 0; plain < left; plain += step) {
			step = 1;
			point = (unsigned char)text[plain];
			if (point >= 0x80)
				step = str_next(text + plain, left - plain, &point);
			if (!is_plain(point, separator))
				break;
		}
		str_add_bytes(out, text, plain);
		text += plain;
		left -= plain;
		if (!left)
			break;
		str_add_char(out, point == (unsigned char)separator ? ':' : ' ');
		text += step;
		left -= step;
	}
}

const struct walk_function *export_function(const struct sample_walk *walk, uint32_t node)
{
	return &walk->functions.at[walk->frames.at[walk->nodes.at[node].frame].function];
}

void export_thread_name(struct str *out, const struct walk_thread *thread)
{
	if (*thread->name)
		str_add(out, thread->name);
	else
		str_addf(out, ":%u", thread->tid);
}
