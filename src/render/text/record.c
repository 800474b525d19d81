/* record.c - see record.h.  Three lines for people: what was taken, where it is, what it cost. */
#include "render/record.h"

#include <math.h>
#include <string.h>

/* Those of which each one is a sample, or the others; how many. */
static unsigned names_add(struct str *text, const struct record_view *view, bool each)
{
	unsigned count = 0;

	for (uint32_t i = 0; i < view->event_count; i++)
		if (view->each[i] == each)
			str_addf(text, "%s%s", count++ ? ", " : "", view->events[i]);
	return count;
}

/* "cpu-clock at 997 Hz and page-faults, one for each" */
static void events_add(struct str *text, const struct record_view *view)
{
	unsigned others = names_add(text, view, false);

	if (others && view->period.known)
		str_addf(text, ", one every %llu", (unsigned long long)view->period.value);
	else if (others && view->rate_hz.known)
		str_addf(text, " at %llu Hz", (unsigned long long)view->rate_hz.value);
	if (others < view->event_count) {
		str_add(text, others ? " and " : "");
		names_add(text, view, true);
		str_add(text, ", one for each");
	}
	if (!isnan(view->reached_hz) && (!others || others == view->event_count))
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
		paper_ink(paper, INK_WARN, "  interrupted: the samples until then are kept\n");
	if (view->leftovers)
		paper_ink(paper, INK_WARN,
			"  processes that it left running are no longer sampled\n");
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
