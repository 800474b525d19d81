/* import_perf_script.c - the text of `perf script`: heads, frames and branches put together into
 * samples.
 *
 * A sample begins with its head and ends before the next one or at an empty line; with `-F ip`
 * there are no heads, and the empty line alone divides.  perf marks a function without code of its
 * own as
 * "(inlined)", but also some that only share a symbol; a frame is inlined when the address of the
 * next one is the same. */
#include <string.h>

#include "import_named.h"
#include "script_line.h"

enum { SCRIPT_LOOK = 24 };

struct script {
	struct named named;
	struct wire_sample sample;
	bool open;
};

static int sample_end(struct script *s)
{
	vec_foreach (struct wire_named, frame, &s->named.frames) {
		bool last = frame + 1 == s->named.frames.at + s->named.frames.count;

		frame->inlined = frame->inlined && !last && frame[1].addr == frame->addr;
	}
	if (!s->open)
		return 0;
	s->open = false;
	return named_sample(&s->named, &s->sample);
}

static void push_frame(struct script *s, const struct script_frame *from)
{
	struct named *n = &s->named;

	vec_push(&n->frames, (struct wire_named){
				     .function = named_text(n, from->symbol.at, from->symbol.len),
				     .module = named_text(n, from->module.at, from->module.len),
				     .addr = from->addr,
				     .inlined = from->inlined,
			     });
}

static void push_branches(struct script *s, struct import_text rest)
{
	struct wire_branch branch;

	while (script_branch_next(&rest, &branch))
		if (branch.from || branch.to)
			vec_push(&s->named.branches, branch);
}

static int sample_begin(struct script *s, const struct script_line *line)
{
	const char *event = named_text(&s->named, line->event.at, line->event.len);
	const char *comm = named_text(&s->named, line->comm.at, line->comm.len);
	int r = named_event(&s->named, &(struct named_event){event ? event : "samples", "", 0},
		&s->sample.event);

	s->sample = (struct wire_sample){
		.event = s->sample.event,
		.pid = line->pid,
		.tid = line->tid,
		.cpu = line->cpu,
		.time_ns = line->time_ns,
		.period = line->period,
		.ip = line->frame.addr,
	};
	if (r == 0 && comm)
		r = named_task(&s->named, line->pid, line->tid, comm);
	if (!s->sample.event) {
		s->named.report->skipped[IMPORT_TOO_MANY]++;
		return r;
	}
	s->open = true;
	if (line->has_ip && (line->frame.symbol.len || line->frame.module.len))
		push_frame(s, &line->frame);
	push_branches(s, line->branches);
	return r;
}

static int take_line(struct script *s, const struct script_line *line)
{
	struct import_report *report = s->named.report;
	struct script_line none = {.cpu = UINT32_MAX, .period = 1};
	int r = 0;

	switch (line->kind) {
	case SCRIPT_HEAD:
		r = sample_end(s);
		return r < 0 ? r : sample_begin(s, line);
	case SCRIPT_FRAME:
		if (!s->open)
			r = sample_begin(s, &none);
		if (s->open)
			push_frame(s, &line->frame);
		return r;
	case SCRIPT_BRANCHES:
		if (!s->open)
			return sample_begin(s, line);
		push_branches(s, line->branches);
		return 0;
	case SCRIPT_SOURCE:
		if (s->named.frames.count && line->file.len) {
			struct wire_named *last = &s->named.frames.at[s->named.frames.count - 1];

			last->file = named_text(&s->named, line->file.at, line->file.len);
			last->line = line->line;
		}
		return 0;
	case SCRIPT_RECORD:
		report->skipped[IMPORT_METRIC]++;
		return 0;
	case SCRIPT_OTHER:
		report->skipped[IMPORT_FOREIGN]++;
		return 0;
	}
	return 0;
}

static int read_script(
	struct import_text text, const struct wire_sink *sink, struct import_report *report)
{
	struct script s = {.named = named_of(sink, report)};
	struct import_text line;
	bool whole;
	int r = 0;

	while (r == 0 && import_line_next(report->quota, &text, &line, &whole)) {
		struct script_line parsed;

		if (import_line_is_empty(line)) {
			r = line.len && memchr(line.at, '#', line.len) ? 0 : sample_end(&s);
			continue;
		}
		report->lines++;
		report->reached = line.at;
		if (!whole) { /* half an address or a name is a wrong one */
			report->skipped[IMPORT_TRUNCATED]++;
			s.sample.named_truncated = true;
			break;
		}
		parsed = script_line_read(line);
		r = take_line(&s, &parsed);
	}
	if (r == 0)
		r = sample_end(&s);
	named_done(&s.named);
	return r;
}

/* Heads with a time or an address and hardly anything else. */
static bool detect(struct import_text text, struct quota *quota)
{
	unsigned seen = 0, good = 0, frames = 0, heads = 0;
	struct import_text line;
	bool whole;

	while (seen < SCRIPT_LOOK && import_line_next(quota, &text, &line, &whole)) {
		struct script_line parsed;

		if (import_line_is_empty(line))
			continue;
		if (memchr(line.at, '\0', line.len))
			return false;
		parsed = script_line_read(line);
		seen++;
		good += parsed.kind != SCRIPT_OTHER;
		frames += parsed.kind == SCRIPT_FRAME && *line.at == '\t';
		heads += parsed.kind == SCRIPT_BRANCHES ||
			 (parsed.kind == SCRIPT_HEAD &&
				 ((parsed.has_time && (parsed.event.len || parsed.has_tid)) ||
					 parsed.has_ip || parsed.branches.len || parsed.event.len));
	}
	return good * 4 >= seen * 3 && (heads || frames);
}

const struct import_format import_perf_script = {
	"perf-script", IMPORT_PROFILE, detect, read_script};
