/* annotate_agent.c - `assay annotate` in a few lines for agents. */
#include "render/annotate.h"

#include <string.h>

#include "analyze/label.h"

enum { AGENT_EVENTS = 4, AGENT_LINES = 12, AGENT_INSTRUCTIONS = 10, AGENT_NOTES = 3 };

static void agent_costs(struct paper *paper, const struct annotate_view *view,
	const struct profile_cost *self, const struct profile_cost *below)
{
	for (uint32_t e = 0; e < view->event_count && e < AGENT_EVENTS; e++) {
		const struct annotate_event *event = &view->events[e];

		paper_add(paper, "%s%llu", e ? " | " : "", (unsigned long long)self[e].samples);
		if (event->self.weight)
			paper_add(paper, " (%.1f%%)", annotate_self_share(event, &self[e]) * 100);
		if (below[e].samples)
			paper_add(paper, " +%llu below", (unsigned long long)below[e].samples);
	}
}

static void agent_lines(struct paper *paper, const struct annotate_view *view)
{
	paper_add(paper, "lines, hottest first (samples here, share of the function):\n");
	for (uint32_t i = 0; i < view->line_count && i < AGENT_LINES; i++) {
		const struct annotate_line *row = &view->lines[view->ranking[i]];
		const char *text = annotate_source(view, row->file, row->line);

		agent_costs(paper, view, row->self, row->below);
		if (row->line)
			paper_add(paper, " %s:%u", view->files[row->file].path, row->line);
		else
			paper_add(paper, " line unknown");
		if (text)
			paper_add(paper, "  %.100s", text + strspn(text, " \t"));
		paper_add(paper, "%s%.80s\n", row->function ? "  inlined from " : "",
			row->function ? row->function : "");
	}
	if (view->line_count > AGENT_LINES)
		paper_add(paper, "and %u more lines: use --json\n", view->line_count - AGENT_LINES);
}

static void agent_instructions(struct paper *paper, const struct annotate_view *view)
{
	uint32_t shown = 0;

	paper_add(paper, "hot instructions, by address:\n");
	for (uint32_t i = 0; i < view->instruction_count && shown < AGENT_INSTRUCTIONS; i++) {
		const struct annotate_instruction *row = &view->instructions[i];

		if (!row->hot)
			continue;
		agent_costs(paper, view, row->self, row->below);
		paper_add(paper, " 0x%llx %.100s", (unsigned long long)row->addr, row->text);
		if (row->target_name)
			paper_add(paper, " <%.60s>", row->target_name);
		if (row->line)
			paper_add(paper, "  %s:%u", label_base(view->files[row->file].path),
				row->line);
		paper_add(paper, "\n");
		shown++;
	}
}

void annotate_agent(
	struct paper *paper, const struct annotate_view *view, const struct annotate_page *page)
{
	paper_add(paper, "function: %.200s\nmodule: %.200s\n", view->function, view->module);
	for (uint32_t e = 0; e < view->event_count && e < AGENT_EVENTS; e++) {
		const struct annotate_event *event = &view->events[e];

		paper_add(paper, "%s: self %llu of %llu samples (%.1f%%), on the stack %llu\n",
			event->name, (unsigned long long)event->self.samples,
			(unsigned long long)event->run.samples,
			annotate_run_share(event, &event->self) * 100,
			(unsigned long long)event->total.samples);
	}
	agent_lines(paper, view);
	if (!page->by_line && !view->missing)
		agent_instructions(paper, view);
	else if (!page->by_line)
		paper_add(
			paper, "instructions: none (%s; %s)\n", view->missing, view->missing_hint);
	for (uint32_t i = 0; i < view->note_count && i < AGENT_NOTES; i++)
		paper_add(paper, "note: %s\n", view->notes[i].text);
	paper_add(paper, "next: %s\n", view->next);
}
