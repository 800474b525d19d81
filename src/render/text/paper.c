/* paper.c - see paper.h.  Colours are the eight of every terminal, so that themes decide. */
#include "render/paper.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "render/shorten.h"

enum { PAPER_WIDTH = 100 };

unsigned paper_width(const struct paper *paper)
{
	return paper->width ? paper->width : PAPER_WIDTH;
}

static size_t text_columns(const char *text, size_t len)
{
	size_t columns = 0;

	for (size_t i = 0; i < len; i++)
		columns += ((unsigned char)text[i] & 0xc0) != 0x80;
	return columns;
}

/* Nothing that steers a terminal or hides text reaches it; the line breaks are ours (str_filterv,
 * paper_wrap). */
static void paper_put(struct paper *paper, const char *text, size_t len)
{
	uint32_t point;
	size_t step;

	for (size_t i = 0; i < len; i += step) {
		step = str_next(text + i, len - i, &point);
		if (point == '\n' || point == '\t' ||
			(str_is_shown(point) && (!paper->ascii || point < 0x80)))
			str_add_bytes(paper->out, text + i, step);
		else
			str_add_char(paper->out, '?');
	}
}

static void paper_put_ink(struct paper *paper, enum ink ink, const char *text, size_t len)
{
	static const char *const codes[] = {[INK_PLAIN] = "",
		[INK_BOLD] = "\033[1m",
		[INK_DIM] = "\033[2m",
		[INK_GOOD] = "\033[32m",
		[INK_WARN] = "\033[33m",
		[INK_BAD] = "\033[31m"};
	bool inked = paper->color && ink != INK_PLAIN && len;

	if (inked)
		str_add(paper->out, codes[ink]);
	paper_put(paper, text, len);
	if (inked)
		str_add(paper->out, "\033[0m");
}

void paper_ink(struct paper *paper, enum ink ink, const char *format, ...)
{
	str_auto struct str text = {0};
	va_list args;

	va_start(args, format);
	str_filterv(&text, str_add_line, format, args);
	va_end(args);
	paper_put_ink(paper, ink, str_text(&text), text.len);
}

void paper_add(struct paper *paper, const char *format, ...)
{
	str_auto struct str text = {0};
	va_list args;

	va_start(args, format);
	str_filterv(&text, str_add_line, format, args);
	va_end(args);
	paper_put(paper, str_text(&text), text.len);
}

/* Bytes of `text` that fit in `columns`, cut at a blank where there is one. */
static size_t line_that_fits(const char *text, size_t columns)
{
	size_t blank = 0, used = 0, i = 0;

	for (; text[i] && text[i] != '\n'; i++) {
		if (((unsigned char)text[i] & 0xc0) == 0x80)
			continue;
		if (used++ == columns)
			return blank ? blank : i;
		if (text[i] == ' ')
			blank = i;
	}
	return i;
}

/* Wrap into lines of `columns`; every line after the first starts with `indent` blanks. */
static void paper_fill(
	struct paper *paper, unsigned indent, size_t columns, enum ink ink, const char *text)
{
	bool first = true;

	while (paper->out->len && !*text && paper->out->at[paper->out->len - 1] == ' ')
		paper->out->at[--paper->out->len] = '\0'; /* an empty last cell leaves no blanks */
	while (*text || first) {
		size_t len = line_that_fits(text, columns);

		if (!first)
			str_add_repeat(paper->out, ' ', indent);
		paper_put_ink(paper, ink, text, len);
		str_add_char(paper->out, '\n');
		text += len;
		while (*text == ' ')
			text++;
		if (*text == '\n')
			text++;
		first = false;
	}
}

static void paper_flow(struct paper *paper, unsigned indent, enum ink ink, const char *text)
{
	unsigned width = paper_width(paper);
	str_auto struct str line = {0};

	str_add_line(&line, text, strlen(text));
	paper_fill(paper, indent, width > indent + 20 ? width - indent : 20, ink, str_text(&line));
}

void paper_wrap(struct paper *paper, unsigned indent, enum ink ink, const char *text)
{
	str_add_repeat(paper->out, ' ', indent);
	paper_flow(paper, indent, ink, text);
}

void paper_hang(struct paper *paper, unsigned indent, const char *text)
{
	paper_flow(paper, indent, INK_PLAIN, text);
}

void paper_target(struct paper *paper, const char *words)
{
	str_auto struct str text = {0};

	words_shorten(words, 2 * paper_width(paper) - 20, &text);
	paper_ink(paper, INK_BOLD, "%s", str_text(&text));
}

void table_column(struct table *table, const char *heading, bool right)
{
	table->headings[table->columns] = heading;
	table->right[table->columns++] = right;
}

void table_add_columns(struct table *table, const char *const *headings)
{
	for (; *headings; headings++)
		table_column(table, *headings + (**headings == '>'), **headings == '>');
}

void table_cell(struct table *table, enum ink ink, const char *format, ...)
{
	str_auto struct str text = {0};
	va_list args;

	va_start(args, format);
	str_filterv(&text, str_add_line, format, args);
	va_end(args);
	vec_push(&table->cells, (struct table_cell){mem_copy_text(str_text(&text), text.len), ink});
}

void table_time(struct table *table, enum ink ink, double ns)
{
	char text[32];

	table_cell(table, ink, "%s", isfinite(ns) ? paper_time(text, sizeof(text), ns) : "-");
}

static size_t table_column_width(const struct table *table, unsigned column)
{
	size_t width = 0;

	for (uint32_t i = column; i < table->cells.count; i += table->columns) {
		const char *text = table->cells.at[i].text;
		size_t columns = text_columns(text, strlen(text));

		width = columns > width ? columns : width;
	}
	if (width && strlen(table->headings[column]) > width)
		width = strlen(table->headings[column]);
	return width;
}

static void table_line(const struct table *table, struct paper *paper, const size_t *width,
	unsigned indent, const struct table_cell *cells)
{
	size_t at = indent;
	unsigned last = table->columns - 1;

	while (last && !width[last])
		last--;
	str_add_repeat(paper->out, ' ', indent);
	for (unsigned c = 0; c <= last; c++) {
		size_t columns = text_columns(cells[c].text, strlen(cells[c].text));
		size_t pad = width[c] > columns ? width[c] - columns : 0;
		size_t left = paper_width(paper) > at + 20 ? paper_width(paper) - at : 20;

		if (!width[c])
			continue;
		if (c == last && !table->right[c]) {
			paper_fill(paper, (unsigned)at, left, cells[c].ink, cells[c].text);
			return;
		}
		if (table->right[c])
			str_add_repeat(paper->out, ' ', pad);
		paper_put_ink(paper, cells[c].ink, cells[c].text, strlen(cells[c].text));
		if (!table->right[c])
			str_add_repeat(paper->out, ' ', pad);
		if (c < last)
			str_add(paper->out, "  ");
		at += width[c] + 2;
	}
	str_add_char(paper->out, '\n');
}

void table_print(const struct table *table, struct paper *paper, unsigned indent)
{
	struct table_cell heads[TABLE_COLUMNS];
	size_t width[TABLE_COLUMNS];
	bool has_heads = false;

	if (!table->columns)
		return;
	for (unsigned c = 0; c < table->columns; c++) {
		width[c] = table_column_width(table, c);
		heads[c] = (struct table_cell){
			mem_copy_text(table->headings[c], strlen(table->headings[c])), INK_DIM};
		has_heads |= *table->headings[c] && width[c];
	}
	if (has_heads)
		table_line(table, paper, width, indent, heads);
	for (uint32_t i = 0; i + table->columns <= table->cells.count; i += table->columns)
		table_line(table, paper, width, indent, table->cells.at + i);
	for (unsigned c = 0; c < table->columns; c++)
		free(heads[c].text);
}

void table_done(struct table *table)
{
	vec_foreach (struct table_cell, cell, &table->cells)
		free(cell->text);
	vec_done(&table->cells);
}

char *paper_count(char *buf, size_t capacity, double value)
{
	str_auto struct str text = {0};

	str_add_grouped(&text, value);
	snprintf(buf, capacity, "%s", text.at);
	return buf;
}

char *paper_time(char *buf, size_t capacity, double ns)
{
	double size = fabs(ns);

	if (size < 1e3)
		snprintf(buf, capacity, "%.0f ns", ns);
	else if (size < 1e6)
		snprintf(buf, capacity, "%.1f us", ns / 1e3);
	else if (size < 1e9)
		snprintf(buf, capacity, "%.2f ms", ns / 1e6);
	else
		snprintf(buf, capacity, "%.3f s", ns / 1e9);
	return buf;
}

char *paper_bytes(char *buf, size_t capacity, double bytes)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
	unsigned unit = 0;

	while (fabs(bytes) >= 1024 && unit < 4) {
		bytes /= 1024;
		unit++;
	}
	snprintf(buf, capacity, unit ? "%.1f %s" : "%.0f %s", bytes, units[unit]);
	return buf;
}
