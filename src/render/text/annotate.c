/* annotate.c - `assay annotate` for people: source beside instructions, cold parts left out.
 *
 * Every row has the same columns in front: for each event the share of the function's own samples,
 * and the share below its calls where there are any.  What is left out is one row with its sum, so
 * each column of shares adds up to 100 %, always. */
#include "render/annotate.h"

#include <stdio.h>
#include <string.h>

#include "analyze/label.h"
#include "base/mem.h"
#include "render/shorten.h"

enum {
	CONTEXT_ROWS = 3, /* shown around a hot row */
	WHOLE_ROWS = 40,  /* a listing that short is shown whole */
	COLUMN_WIDTH = 9, /* of one share: "  100.0 %" */
	NAME_WIDTH = 16,  /* of an event's name above its columns */
	TAB_COLUMNS = 8,
	TOP_LINES = 6,
	EVENTS_SHOWN = 4, /* side by side */
};

struct sheet {
	struct paper *paper;
	const struct annotate_view *view;
	bool calls[EVENTS_SHOWN];   /* something is called from here */
	unsigned gap[EVENTS_SHOWN]; /* blanks before, so that the name has room */
	uint32_t events;	    /* that have a column */
};

static enum ink heat_ink(double share)
{
	return share >= 0.1 ? INK_BAD : share >= 0.02 ? INK_WARN : INK_PLAIN;
}

static void share_cell(struct sheet *sheet, double share, uint64_t samples, bool dim)
{
	if (!samples)
		str_add_repeat(sheet->paper->out, ' ', COLUMN_WIDTH);
	else
		paper_ink(sheet->paper, dim ? INK_DIM : heat_ink(share), "%*.1f %%",
			COLUMN_WIDTH - 2, share * 100);
}

static void share_cells(struct sheet *sheet, const struct profile_cost *self,
	const struct profile_cost *below, bool dim)
{
	for (uint32_t e = 0; e < sheet->events; e++) {
		const struct annotate_event *event = &sheet->view->events[e];

		str_add_repeat(sheet->paper->out, ' ', sheet->gap[e]);
		share_cell(sheet, self ? annotate_self_share(event, &self[e]) : 0,
			self ? self[e].samples : 0, dim);
		if (sheet->calls[e])
			share_cell(sheet, below ? annotate_total_share(event, &below[e]) : 0,
				below ? below[e].samples : 0, dim);
	}
	str_add(sheet->paper->out, "  ");
}

static void headings(struct sheet *sheet, const char *last)
{
	str_auto struct str names = {0}, kinds = {0};

	for (uint32_t e = 0; e < sheet->events; e++) {
		int width = (int)sheet->gap[e] + (sheet->calls[e] ? 2 : 1) * COLUMN_WIDTH - 2;

		str_addf(&names, "  %*.*s", width, width, sheet->view->events[e].name);
		str_addf(&kinds, "%*s", (int)sheet->gap[e] + COLUMN_WIDTH, "self");
		if (sheet->calls[e])
			str_addf(&kinds, "%*s", COLUMN_WIDTH, "calls");
	}
	if (sheet->view->event_count > 1)
		paper_ink(sheet->paper, INK_DIM, "%s\n", names.at);
	paper_ink(sheet->paper, INK_DIM, "%s  %s\n", str_text(&kinds), last);
}

/* Source text with its tabs as blanks: it stands behind columns of our own. */
static void source_add(struct sheet *sheet, enum ink ink, const char *text)
{
	str_auto struct str out = {0};
	size_t column = 0;

	for (; *text; text++) {
		size_t blanks = *text == '\t' ? TAB_COLUMNS - column % TAB_COLUMNS : 0;

		if (blanks)
			str_add_repeat(&out, ' ', blanks);
		else
			str_add_char(&out, *text);
		column += blanks ? blanks : 1;
	}
	paper_ink(sheet->paper, ink, "%s", str_text(&out));
}

const char *annotate_source(const struct annotate_view *view, uint32_t file, uint32_t line)
{
	const struct annotate_file *from = &view->files[file];

	return line && line <= from->line_count ? from->lines[line - 1] : NULL;
}

/* The row of a line, NULL when it has no cost. */
static const struct annotate_line *line_of(
	const struct annotate_view *view, uint32_t file, uint32_t line)
{
	uint32_t low = 0, high = view->line_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		const struct annotate_line *row = &view->lines[middle];

		if (row->file < file || (row->file == file && row->line < line))
			low = middle + 1;
		else
			high = middle;
	}
	if (low == view->line_count || view->lines[low].file != file ||
		view->lines[low].line != line)
		return NULL;
	return &view->lines[low];
}

/* Which rows are near a hot one: all of them in a short listing. */
static void rows_near(const bool *hot, uint32_t count, bool all, bool *ret_shown)
{
	for (uint32_t i = 0; i < count; i++) {
		uint32_t from = i > CONTEXT_ROWS ? i - CONTEXT_ROWS : 0;
		uint32_t to = count - i > CONTEXT_ROWS ? i + CONTEXT_ROWS : count - 1;

		if (all || count <= WHOLE_ROWS)
			ret_shown[i] = true;
		else if (hot[i])
			for (uint32_t k = from; k <= to; k++)
				ret_shown[k] = true;
	}
	/* One row left out would take a row to say so. */
	for (uint32_t i = 1; i + 1 < count; i++)
		if (ret_shown[i - 1] && ret_shown[i + 1])
			ret_shown[i] = true;
}

static void costs_add(
	const struct sheet *sheet, struct profile_cost *sum, const struct profile_cost *cost)
{
	for (uint32_t e = 0; e < sheet->events; e++) {
		sum[e].samples += cost[e].samples;
		sum[e].weight += cost[e].weight;
	}
}

static void left_out_row(
	struct sheet *sheet, struct profile_cost *sum, uint32_t rows, const char *of_what)
{
	if (!rows)
		return;
	share_cells(sheet, sum, NULL, true);
	paper_ink(sheet->paper, INK_DIM, "  ... %u %s\n", rows, of_what);
	memset(sum, 0, sheet->events * sizeof(*sum));
}

/* ---- instructions ---- */

/* "jne 0x1180" reads better as "jne L3", and "callq 0x1030" as "callq memcpy@plt". */
static void instruction_text(struct sheet *sheet, const struct annotate_instruction *row)
{
	const char *hex = row->has_target ? strstr(row->text, "0x") : NULL;
	const char *arrow = sheet->paper->ascii	       ? ""
			    : !row->target_label       ? ""
			    : row->target <= row->addr ? " \u2191"
						       : " \u2193";

	for (const char *more = hex; more; more = strstr(more + 1, "0x"))
		hex = more; /* the last: tbz w0, #0x1f, #0x1180 */
	if (hex && hex > row->text && hex[-1] == '#')
		hex--;
	if (hex && row->target_label)
		paper_add(sheet->paper, "%.*sL%u%s", (int)(hex - row->text), row->text,
			row->target_label, arrow);
	else if (hex && row->target_name)
		paper_add(sheet->paper, "%.*s%s", (int)(hex - row->text), row->text,
			row->target_name);
	else
		paper_add(sheet->paper, "%s", row->text);
}

static void instruction_row(struct sheet *sheet, const struct annotate_instruction *row)
{
	char label[16];

	share_cells(sheet, row->self, row->below, false);
	paper_ink(sheet->paper, INK_DIM, "%8llx ", (unsigned long long)row->addr);
	snprintf(label, sizeof(label), "L%u:", row->label);
	if (row->label)
		paper_ink(sheet->paper, INK_BOLD, "%-6s", label);
	else
		str_add_repeat(sheet->paper->out, ' ', 6);
	instruction_text(sheet, row);
	str_add_char(sheet->paper->out, '\n');
}

enum { INLINED_COLUMNS = 50 };

static void inlined_note(struct sheet *sheet, const char *function)
{
	str_auto struct str name = {0};

	name_shorten(function, INLINED_COLUMNS, &name);
	paper_ink(sheet->paper, INK_DIM, "   (inlined from %s)", name.at);
}

/* The source line that the instructions below it come from. */
static void source_row(struct sheet *sheet, uint32_t file, uint32_t line)
{
	const struct annotate_view *view = sheet->view;
	const char *text = annotate_source(view, file, line);
	const struct annotate_line *row = line_of(view, file, line);

	if (!line)
		return;
	share_cells(sheet, NULL, NULL, false);
	paper_ink(sheet->paper, INK_BOLD, "%s:%u", label_base(view->files[file].path), line);
	paper_add(sheet->paper, "  ");
	source_add(sheet, INK_GOOD, text ? text + strspn(text, " \t") : "");
	if (row && row->function)
		inlined_note(sheet, row->function);
	paper_add(sheet->paper, "\n");
}

static void instructions_text(struct sheet *sheet, bool all)
{
	const struct annotate_view *view = sheet->view;
	mem_auto bool *hot = mem_new(view->instruction_count + 1, sizeof(*hot));
	mem_auto bool *shown = mem_new(view->instruction_count + 1, sizeof(*shown));
	struct profile_cost sum[EVENTS_SHOWN] = {0};
	const struct annotate_instruction *before = NULL;
	uint32_t left_out = 0;

	for (uint32_t i = 0; i < view->instruction_count; i++)
		hot[i] = view->instructions[i].hot;
	rows_near(hot, view->instruction_count, all, shown);
	headings(sheet, "instructions, below their source line");
	for (uint32_t i = 0; i < view->instruction_count; i++) {
		const struct annotate_instruction *row = &view->instructions[i];

		if (!shown[i]) {
			costs_add(sheet, sum, row->self);
			left_out++;
			before = NULL;
			continue;
		}
		left_out_row(sheet, sum, left_out, "instructions");
		left_out = 0;
		if (!before || before->file != row->file || before->line != row->line)
			source_row(sheet, row->file, row->line);
		instruction_row(sheet, row);
		before = row;
	}
	left_out_row(sheet, sum, left_out, "instructions");
}

static void outside_text(struct sheet *sheet)
{
	uint64_t samples = 0;

	for (uint32_t e = 0; e < sheet->events; e++)
		samples += sheet->view->outside[e].samples;
	if (!samples)
		return;
	share_cells(sheet, sheet->view->outside, NULL, false);
	paper_ink(sheet->paper, INK_WARN, "  at addresses that are not in these instructions\n");
}

/* ---- lines ---- */

static void line_row(struct sheet *sheet, uint32_t file, uint32_t line)
{
	const struct annotate_line *row = line_of(sheet->view, file, line);
	const char *text = annotate_source(sheet->view, file, line);

	share_cells(sheet, row ? row->self : NULL, row ? row->below : NULL, false);
	if (line)
		paper_ink(sheet->paper, row ? INK_BOLD : INK_DIM, "%6u", line);
	else
		paper_ink(sheet->paper, INK_WARN, "line unknown");
	if (text && *text) {
		paper_add(sheet->paper, "  ");
		source_add(sheet, INK_PLAIN, text);
	}
	if (row && row->function)
		inlined_note(sheet, row->function);
	paper_add(sheet->paper, "\n");
}

/* One file from its first to its last line with a cost, `from` and `to` being its rows. */
static void file_lines(struct sheet *sheet, uint32_t from, uint32_t to, bool all)
{
	const struct annotate_view *view = sheet->view;
	uint32_t file = view->lines[from].file, known = view->files[file].line_count;
	uint32_t first = view->lines[from].line, last = view->lines[to - 1].line;
	struct profile_cost sum[EVENTS_SHOWN] = {0};
	uint32_t left_out = 0, count;
	mem_auto bool *hot = NULL, *shown = NULL;

	first = first > CONTEXT_ROWS ? first - CONTEXT_ROWS : 1;
	last = last + CONTEXT_ROWS < known ? last + CONTEXT_ROWS : known;
	count = last - first + 1;
	hot = mem_new(count, sizeof(*hot));
	shown = mem_new(count, sizeof(*shown));
	for (uint32_t i = from; i < to; i++)
		hot[view->lines[i].line - first] = view->lines[i].hot;
	rows_near(hot, count, all, shown);
	for (uint32_t line = first; line <= last; line++) {
		const struct annotate_line *row = line_of(view, file, line);

		if (!shown[line - first]) {
			if (row)
				costs_add(sheet, sum, row->self);
			left_out++;
			continue;
		}
		left_out_row(sheet, sum, left_out, "lines");
		left_out = 0;
		line_row(sheet, file, line);
	}
	left_out_row(sheet, sum, left_out, "lines");
}

static void file_heading(struct sheet *sheet, const struct annotate_file *file)
{
	paper_add(sheet->paper, "\n");
	share_cells(sheet, NULL, NULL, false);
	paper_ink(sheet->paper, INK_BOLD, "%s", *file->path ? file->path : "no file");
	if (file->missing && *file->path)
		paper_ink(sheet->paper, INK_DIM, "   (source not found)");
	paper_add(sheet->paper, "\n");
}

/* Lines of a file whose text is not here, or which are beyond its end: those with a cost. */
static void bare_lines(struct sheet *sheet, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++)
		line_row(sheet, sheet->view->lines[i].file, sheet->view->lines[i].line);
}

static void lines_text(struct sheet *sheet, bool all)
{
	const struct annotate_view *view = sheet->view;

	headings(sheet, "  line  source");
	for (uint32_t from = 0, to; from < view->line_count; from = to) {
		const struct annotate_file *file = &view->files[view->lines[from].file];
		uint32_t zero, inside;

		for (to = from;
			to < view->line_count && view->lines[to].file == view->lines[from].file;)
			to++;
		file_heading(sheet, file);
		for (zero = from; zero < to && !view->lines[zero].line;)
			zero++;
		for (inside = zero; inside < to && view->lines[inside].line <= file->line_count;)
			inside++;
		bare_lines(sheet, from, zero);
		if (zero < inside)
			file_lines(sheet, zero, inside, all);
		bare_lines(sheet, inside, to);
	}
}

static void hottest_lines(struct sheet *sheet)
{
	const struct annotate_view *view = sheet->view;

	headings(sheet, "hottest lines");
	for (uint32_t i = 0; i < view->line_count && i < TOP_LINES; i++) {
		const struct annotate_line *row = &view->lines[view->ranking[i]];
		const char *text = annotate_source(view, row->file, row->line);

		share_cells(sheet, row->self, row->below, false);
		if (row->line)
			paper_ink(sheet->paper, INK_BOLD, "%s:%u",
				label_base(view->files[row->file].path), row->line);
		else
			paper_add(sheet->paper, "line unknown");
		if (text) {
			paper_add(sheet->paper, "  ");
			source_add(sheet, INK_PLAIN, text + strspn(text, " \t"));
		}
		if (row->function)
			inlined_note(sheet, row->function);
		paper_add(sheet->paper, "\n");
	}
	paper_add(sheet->paper, "\n");
}

/* ---- around them ---- */

static void event_text(struct sheet *sheet, uint32_t e)
{
	const struct annotate_event *event = &sheet->view->events[e];
	const struct profile_cost *inlined = &sheet->view->inlined[e];
	char self[32], total[32];

	paper_add(sheet->paper, "  %s: %s samples in it (%.1f %% of the run)", event->name,
		paper_count(self, sizeof(self), (double)event->self.samples),
		annotate_run_share(event, &event->self) * 100);
	if (inlined->samples)
		paper_add(sheet->paper, ", %.1f %% of them in code inlined into it",
			annotate_self_share(event, inlined) * 100);
	paper_add(sheet->paper, "; %s with it on the stack (%.1f %%)\n",
		paper_count(total, sizeof(total), (double)event->total.samples),
		annotate_run_share(event, &event->total) * 100);
}

static void head_text(struct sheet *sheet)
{
	const struct annotate_view *view = sheet->view;

	paper_add(sheet->paper, "\n");
	paper_ink(sheet->paper, INK_BOLD, "%s", view->function);
	paper_add(sheet->paper, " in %s", view->module);
	if (*view->file && view->line)
		paper_ink(sheet->paper, INK_DIM, "   %s:%u", view->file, view->line);
	paper_add(sheet->paper, "\n");
	for (uint32_t e = 0; e < view->event_count; e++)
		event_text(sheet, e);
	if (view->event_count > sheet->events)
		paper_add(sheet->paper, "  columns for the first %u events; -e shows another\n",
			sheet->events);
	paper_add(sheet->paper, "\n");
}

static void note_text(struct sheet *sheet, const char *text, const char *hint)
{
	str_auto struct str line = {0};

	str_addf(&line, "note: %s%s%s%s", text, *hint ? " (" : "", hint, *hint ? ")" : "");
	paper_wrap(sheet->paper, 2, INK_DIM, line.at);
}

static void notes_text(struct sheet *sheet, bool by_line)
{
	const struct annotate_view *view = sheet->view;

	paper_add(sheet->paper, "\n");
	if (view->missing && !by_line) {
		str_auto struct str line = {0};

		str_addf(&line, "no instructions: %s", view->missing);
		note_text(sheet, line.at, view->missing_hint);
	}
	for (uint32_t i = 0; i < view->file_count; i++) {
		const struct annotate_file *file = &view->files[i];

		if (file->missing && *file->path)
			note_text(sheet, file->missing,
				"--source DIR or --source FROM=TO sets its location");
		if (file->changed)
			note_text(sheet,
				"a source file changed after the recording started: its lines may "
				"have moved",
				file->path);
	}
	for (uint32_t i = 0; i < view->note_count; i++)
		note_text(sheet, view->notes[i].text, view->notes[i].hint);
}

static void sheet_columns(struct sheet *sheet)
{
	const struct annotate_view *view = sheet->view;

	sheet->events = view->event_count < EVENTS_SHOWN ? view->event_count : EVENTS_SHOWN;
	for (uint32_t i = 0; i < view->line_count; i++)
		for (uint32_t e = 0; e < sheet->events; e++)
			sheet->calls[e] |= view->lines[i].below[e].samples > 0;
	for (uint32_t e = 0; view->event_count > 1 && e < sheet->events; e++) {
		unsigned name = (unsigned)strnlen(view->events[e].name, NAME_WIDTH) + 2;
		unsigned width = (sheet->calls[e] ? 2 : 1) * COLUMN_WIDTH;

		sheet->gap[e] = name > width ? name - width : 0;
	}
}

void annotate_text(
	struct paper *paper, const struct annotate_view *view, const struct annotate_page *page)
{
	struct sheet sheet = {.paper = paper, .view = view};

	sheet_columns(&sheet);
	head_text(&sheet);
	if (page->by_line || !view->instruction_count) {
		lines_text(&sheet, page->all);
	} else {
		hottest_lines(&sheet);
		instructions_text(&sheet, page->all);
		outside_text(&sheet);
	}
	notes_text(&sheet, page->by_line);
}
