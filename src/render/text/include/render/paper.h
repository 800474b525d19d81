/* paper.h - text for people: inks, wrapped paragraphs and aligned tables into a str.
 *
 * One look for every command.  Agents get the same words without ink and without anything that is
 * not ASCII.  Widths are counted in characters, not bytes.  Formats are ours; every %s and every
 * wrapped text may come from a stranger and stays one line that cannot steer a terminal (str.h). */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"
#include "base/vec.h"

enum ink { INK_PLAIN, INK_BOLD, INK_DIM, INK_GOOD, INK_WARN, INK_BAD };

struct paper {
	struct str *out;
	bool color;
	bool ascii;	/* replace what is not ASCII */
	unsigned width; /* columns, 0: 100 */
};

unsigned paper_width(const struct paper *paper);

/* Formatted text in an ink; no newline of its own. */
void paper_ink(struct paper *paper, enum ink ink, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Plain formatted text; no newline of its own. */
void paper_add(struct paper *paper, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* `text` wrapped to the width, each line behind `indent` blanks (the first one too), newline at the
 * end. */
void paper_wrap(struct paper *paper, unsigned indent, enum ink ink, const char *text);

/* The same where the first line goes on behind something that is `indent` wide already. */
void paper_hang(struct paper *paper, unsigned indent, const char *text);

/* The program that was measured as a heading, cut to two lines; no newline of its own. */
void paper_target(struct paper *paper, const char *words);

/* A table: declare the columns, add the cells row by row, print.  Cells own copies of their text.
 * Numbers go right.  Columns without any text are left out. */
enum { TABLE_COLUMNS = 12 };

struct table_cell {
	char *text;
	enum ink ink;
};

struct table {
	const char *headings[TABLE_COLUMNS]; /* "" for none */
	bool right[TABLE_COLUMNS];
	unsigned columns;
	vec_of(struct table_cell) cells;
};

void table_column(struct table *table, const char *heading, bool right);
/* Some headings; one that starts with '>' goes right. */
#define table_columns(table, ...) table_add_columns(table, (const char *const[]){__VA_ARGS__, NULL})
void table_add_columns(struct table *table, const char *const *headings);
void table_cell(struct table *table, enum ink ink, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void table_time(struct table *table, enum ink ink, double ns); /* "1.23 ms", "-": not known */
/* The last column is wrapped when the line gets wider than the paper. */
void table_print(const struct table *table, struct paper *paper, unsigned indent);
void table_done(struct table *table);
#define table_auto __attribute__((cleanup(table_done)))

/* Numbers for people, in a caller's buffer (which is returned): "12,345", "1.23 ms", "45.6 MiB". */
char *paper_count(char *buf, size_t capacity, double value);
char *paper_time(char *buf, size_t capacity, double ns);
char *paper_bytes(char *buf, size_t capacity, double bytes);
