/* record.c - see record.h.  Three lines for people: what was taken, where it is, what it cost. */
#include "render/record.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void events_add(struct str *text, const struct record_view *view)
{
	for (uint32_t i = 0; i < view->event_count; i++)
		str_addf(text, "%s%s", i ? ", " : "", view->events[i]);
}

static void rate_add(struct str *text, const struct record_view *view)
{
	if (view->period.known)
		str_addf(text, ", one every %llu", (unsigned long long)view->period.value);
	else if (view->rate_hz.known)
		str_addf(text, " at %llu Hz", (unsigned long long)view->rate_hz.value);
	if (!isnan(view->reached_hz))
		str_addf(text, " (%.0f per second of CPU time)", view->reached_hz);
}

static void samples_line(struct paper *paper, const struct record_view *view)
{
	str_auto struct str text = {0};
	char count[32];

	paper_ink(paper, INK_BOLD, "  %s samples",
		paper_count(count, sizeof(count), (double)view->samples.value));
	str_add(&text, " of ");
	events_add(&text, view);
	rate_add(&text, view);
	paper_add(paper, "%s", text.at);
	if (view->lost.known)
		paper_ink(paper, view->lost.value ? INK_WARN : INK_PLAIN, ", %s lost",
			paper_count(count, sizeof(count), (double)view->lost.value));
	if (!isnan(view->truncated_share))
		paper_ink(paper, view->truncated.value ? INK_WARN : INK_PLAIN,
			", %.1f %% of the stacks truncated", view->truncated_share * 100);
	paper_add(paper, "\n");
}

static void file_line(struct paper *paper, const struct record_view *view)
{
	char bytes[32];

	paper_add(paper, "  %s, %s", view->path,
		paper_bytes(bytes, sizeof(bytes), (double)view->bytes));
	if (!isnan(view->bytes_per_sample))
		paper_ink(paper, INK_DIM, " (%.0f bytes per sample)", view->bytes_per_sample);
	paper_add(paper, "\n");
}

static void cost_line(struct paper *paper, const struct record_view *view)
{
	char own[32], wall[32];

	if (!view->recorder_cpu_ns.known)
		return;
	paper_add(paper, "  the recorder used %s of CPU time",
		paper_time(own, sizeof(own), (double)view->recorder_cpu_ns.value));
	if (!isnan(view->recorder_share))
		paper_add(paper, ", %.2f %% of the program's", view->recorder_share * 100);
	if (view->executed)
		paper_ink(paper, INK_DIM, ", in %s",
			paper_time(wall, sizeof(wall), (double)view->wall_ns));
	paper_add(paper, "\n");
}

static void end_line(struct paper *paper, const struct record_view *view)
{
	if (view->signal)
		paper_ink(paper, INK_WARN, "  the program was killed by signal %d (%s)\n",
			view->signal, strsignal(view->signal));
	else if (view->exit_status)
		paper_ink(paper, INK_WARN, "  the program exited with status %d\n",
			view->exit_status);
	if (view->interrupted)
		paper_ink(paper, INK_WARN, "  interrupted: what was sampled until then is kept\n");
	if (view->leftovers)
		paper_ink(paper, INK_WARN,
			"  processes that it left running are not sampled any "
			"more\n");
}

void record_text(struct paper *paper, const struct record_view *view)
{
	paper_add(paper, "\n");
	paper_target(paper, view->target);
	paper_add(paper, "\n\n");
	samples_line(paper, view);
	file_line(paper, view);
	cost_line(paper, view);
	end_line(paper, view);
	paper_ink(paper, INK_DIM, "  next: %s\n", view->next);
	paper_add(paper, "\n");
}

static void agent_count(struct paper *paper, const char *name, const struct record_count *count)
{
	if (count->known)
		paper_add(paper, "%s = %llu\n", name, (unsigned long long)count->value);
	else
		paper_add(paper, "%s = none (%s)\n", name, count->reason);
}

void record_agent(struct paper *paper, const struct record_view *view)
{
	str_auto struct str events = {0};

	events_add(&events, view);
	rate_add(&events, view);
	paper_add(paper, "target: %.200s\n", view->target);
	paper_add(paper, "event: %.400s\n", str_text(&events));
	agent_count(paper, "samples", &view->samples);
	agent_count(paper, "lost", &view->lost);
	agent_count(paper, "truncated", &view->truncated);
	agent_count(paper, "broken", &view->broken);
	paper_add(paper, "file = %s\nbytes = %llu\n", view->path, (unsigned long long)view->bytes);
	agent_count(paper, "recorder_cpu_ns", &view->recorder_cpu_ns);
	agent_count(paper, "target_cpu_ns", &view->target_cpu_ns);
	if (view->executed)
		paper_add(paper, "wall_ns = %llu\nexit = %d signal = %d\n",
			(unsigned long long)view->wall_ns, view->exit_status, view->signal);
	paper_add(paper, "next: %s\n", view->next);
}

static void json_count(struct jsonw *w, const char *key, const struct record_count *count)
{
	if (count->known)
		jsonw_put_u64(w, key, count->value);
	else
		jsonw_put_missing(w, key, count->reason);
}

static void json_double(struct jsonw *w, const char *key, double value, const char *reason)
{
	if (isnan(value))
		jsonw_put_missing(w, key, reason);
	else
		jsonw_put_double(w, key, value);
}

static void json_overhead(struct jsonw *w, const struct record_view *view)
{
	jsonw_key(w, "overhead");
	jsonw_begin_object(w);
	json_count(w, "recorder_cpu_ns", &view->recorder_cpu_ns);
	json_count(w, "target_cpu_ns", &view->target_cpu_ns);
	json_double(w, "recorder_share", view->recorder_share, view->target_cpu_ns.reason);
	jsonw_put_missing(w, "target_slowdown_share",
		"what the sampling interrupts cost the program is part of its own CPU time; compare "
		"with `assay stat` of a run without recording");
	jsonw_end_object(w);
}

static void json_execution(struct jsonw *w, const struct record_view *view)
{
	jsonw_key(w, "execution");
	jsonw_begin_object(w);
	jsonw_put_u64(w, "wall_ns", view->wall_ns);
	jsonw_put_i64(w, "exit", view->exit_status);
	jsonw_put_i64(w, "signal", view->signal);
	jsonw_put_bool(w, "interrupted", view->interrupted);
	jsonw_put_bool(w, "leftovers", view->leftovers);
	jsonw_end_object(w);
}

void record_json(struct jsonw *w, const struct record_view *view)
{
	jsonw_put_text(w, "target", view->target);
	jsonw_put_text(w, "file", view->path);
	jsonw_put_u64(w, "bytes", view->bytes);
	jsonw_key(w, "events");
	jsonw_begin_array(w);
	for (uint32_t i = 0; i < view->event_count; i++)
		jsonw_text(w, view->events[i]);
	jsonw_end_array(w);
	json_count(w, "samples", &view->samples);
	json_count(w, "lost", &view->lost);
	json_double(w, "lost_share", view->lost_share, "no samples were taken");
	json_count(w, "lost_records", &view->lost_records);
	json_count(w, "throttled", &view->throttled);
	json_count(w, "truncated", &view->truncated);
	json_double(w, "truncated_share", view->truncated_share, "no samples were taken");
	json_count(w, "broken", &view->broken);
	json_count(w, "rate_hz", &view->rate_hz);
	json_count(w, "period", &view->period);
	json_double(w, "reached_hz", view->reached_hz, view->reached_reason);
	json_double(w, "sampled_share", view->sampled_share,
		"only cpu-clock and task-clock over a whole program tell");
	json_count(w, "stack_dump_bytes", &view->dump_bytes);
	json_count(w, "ring_bytes", &view->ring_bytes);
	json_overhead(w, view);
	if (view->executed)
		json_execution(w, view);
	jsonw_put_text(w, "next", view->next);
}
