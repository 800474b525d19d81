/* annotate.c - "data" of `assay annotate --json`.
 *
 * docs/commands/annotate.md describes each member.  A row is one line of the document: a function
 * of 10,000 instructions is 10,000 of them. */
#include "render/profile_json.h"

#include <stdio.h>

#include "render/annotate.h"

static void put_addr(struct jsonw *w, const char *key, uint64_t addr)
{
	char text[32];

	snprintf(text, sizeof(text), "0x%llx", (unsigned long long)addr);
	jsonw_put_text(w, key, text);
}

static void put_share(struct jsonw *w, const char *key, double share)
{
	jsonw_put_number(w, key, share, "no samples to take a share of");
}

static const char *const self_keys[] = {"self", "self_share"};
static const char *const below_keys[] = {"below", "below_share"};

typedef double share_of(const struct annotate_event *event, const struct profile_cost *cost);

/* Samples and shares, one per event in the order of data.events. */
static void put_costs(struct jsonw *w, const struct annotate_view *view, const char *const keys[2],
	const struct profile_cost *costs, share_of *share)
{
	jsonw_open_array(w, keys[0]);
	for (uint32_t e = 0; e < view->event_count; e++)
		jsonw_u64(w, costs[e].samples);
	jsonw_end_array(w);
	jsonw_open_array(w, keys[1]);
	for (uint32_t e = 0; e < view->event_count; e++) {
		double part = share(&view->events[e], &costs[e]);

		if (part == 0) /* most instructions, and formatting a double is dear */
			jsonw_u64(w, 0);
		else
			jsonw_double(w, part);
	}
	jsonw_end_array(w);
}

static void events_json(struct jsonw *w, const struct annotate_view *view)
{
	jsonw_open_array(w, "events");
	for (uint32_t e = 0; e < view->event_count; e++) {
		const struct annotate_event *event = &view->events[e];

		jsonw_begin_object(w);
		jsonw_put_text(w, "name", event->name);
		jsonw_put_bool(w, "precise", event->precise);
		jsonw_put_bool(w, "weighted", event->weighted);
		jsonw_put_u64(w, "run_samples", event->run.samples);
		jsonw_put_u64(w, "self", event->self.samples);
		put_share(w, "self_share", annotate_run_share(event, &event->self));
		jsonw_put_u64(w, "total", event->total.samples);
		put_share(w, "total_share", annotate_run_share(event, &event->total));
		jsonw_put_u64(w, "inlined", view->inlined[e].samples);
		jsonw_put_known(
			w, "outside", !view->missing, view->outside[e].samples, view->missing);
		jsonw_end_object(w);
	}
	jsonw_end_array(w);
}

static void put_source(
	struct jsonw *w, const struct annotate_view *view, uint32_t file, uint32_t line)
{
	static const char none[] = "no line information here";

	jsonw_put_text_or(w, "file", line ? view->files[file].path : NULL, none);
	jsonw_put_count(w, "line", line, none);
}

static void lines_json(struct jsonw *w, const struct annotate_view *view)
{
	jsonw_open_array(w, "lines");
	for (uint32_t i = 0; i < view->line_count; i++) {
		const struct annotate_line *row = &view->lines[i];
		const char *text = annotate_source(view, row->file, row->line);

		jsonw_begin_object(w);
		w->compact = true;
		put_source(w, view, row->file, row->line);
		jsonw_put_text_or(w, "text", text,
			view->files[row->file].missing ? view->files[row->file].missing
						       : "the file has no such line");
		jsonw_put_text(w, "inlined_from", row->function);
		put_costs(w, view, self_keys, row->self, annotate_self_share);
		put_costs(w, view, below_keys, row->below, annotate_total_share);
		jsonw_end_object(w);
		w->compact = false;
	}
	jsonw_end_array(w);
}

static void instruction_json(
	struct jsonw *w, const struct annotate_view *view, const struct annotate_instruction *row)
{
	static const char *const kinds[] = {[ANNOTATE_PLAIN] = "plain",
		[ANNOTATE_CALL] = "call",
		[ANNOTATE_JUMP] = "jump",
		[ANNOTATE_RETURN] = "return",
		[ANNOTATE_BYTES] = "bytes"};

	put_addr(w, "addr", row->addr);
	jsonw_put_u64(w, "size_bytes", row->size_bytes);
	jsonw_put_text(w, "text", row->text);
	jsonw_put_text(w, "kind", kinds[row->kind]);
	put_source(w, view, row->file, row->line);
	if (row->has_target) {
		put_addr(w, "target", row->target);
		jsonw_put_text(w, "target_name", row->target_name);
	}
	put_costs(w, view, self_keys, row->self, annotate_self_share);
	put_costs(w, view, below_keys, row->below, annotate_total_share);
}

static void instructions_json(
	struct jsonw *w, const struct annotate_view *view, const struct annotate_page *page)
{
	if (view->missing || page->by_line) {
		jsonw_put_missing(w, "instructions",
			page->by_line ? "only lines were requested" : view->missing);
		if (!page->by_line)
			jsonw_put_text(w, "instructions_hint", view->missing_hint);
		return;
	}
	jsonw_open_array(w, "instructions");
	for (uint32_t i = 0; i < view->instruction_count; i++) {
		jsonw_begin_object(w);
		w->compact = true;
		instruction_json(w, view, &view->instructions[i]);
		jsonw_end_object(w);
		w->compact = false;
	}
	jsonw_end_array(w);
}

static void notes_json(struct jsonw *w, const struct annotate_view *view)
{
	jsonw_open_array(w, "notes");
	for (uint32_t i = 0; i < view->note_count; i++) {
		jsonw_begin_object(w);
		jsonw_put_text(w, "code", view->notes[i].code);
		jsonw_put_text(w, "text", view->notes[i].text);
		jsonw_put_text(w, "hint", view->notes[i].hint);
		jsonw_end_object(w);
	}
	jsonw_end_array(w);
}

static void files_json(struct jsonw *w, const struct annotate_view *view)
{
	jsonw_open_array(w, "files");
	for (uint32_t i = 0; i < view->file_count; i++) {
		const struct annotate_file *file = &view->files[i];

		if (!*file->path)
			continue;
		jsonw_begin_object(w);
		jsonw_put_text(w, "path", file->path);
		jsonw_put_text_or(w, "found", file->missing ? NULL : file->found, file->missing);
		jsonw_put_bool(w, "changed", file->changed);
		jsonw_end_object(w);
	}
	jsonw_end_array(w);
}

void annotate_json(
	struct jsonw *w, const struct annotate_view *view, const struct annotate_page *page)
{
	jsonw_put_text(w, "function", view->function);
	jsonw_put_text(w, "module", view->module);
	jsonw_put_text_or(
		w, "file", str_or_null(view->file), "no debug information for where it is defined");
	jsonw_put_count(w, "line", view->line, "no debug information for where it is defined");
	put_addr(w, "addr", view->addr);
	jsonw_put_u64(w, "size_bytes", view->size_bytes);
	jsonw_put_bool(w, "inlined_only", view->inlined_only);
	events_json(w, view);
	lines_json(w, view);
	instructions_json(w, view, page);
	files_json(w, view);
	notes_json(w, view);
	jsonw_put_text(w, "next", view->next);
}
