/* flame.c - see flame.h.
 *
 * The file holds the boxes twice: as SVG elements, for viewers that run no script (the widest
 * only), and as columns of numbers, from which flame.js draws them again at any zoom.  So the
 * file's size is bounded by the number of boxes in the view, not by the number of samples. */
#include "render/flame.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/jsonw.h"
#include "base/map.h"
#include "flame_parts.h"
#include "render/paper.h"
#include "render/shorten.h"
#include "xml.h"

enum {
	WIDTH_DEFAULT = 1200,
	ROW = 18,	   /* pixels, as in flame.js */
	PAD = 10,	   /* left and right */
	TOP = 110,	   /* title and controls */
	DRAWN_MOST = 5000, /* elements for viewers without script */
	NAME_MOST = 2000,  /* bytes */
	VARIATIONS = 8,	   /* of a colour, in flame.css */
	CLASS_SIZE = 16,
};

/* Of the 11 px monospace face, measured in chromium with DejaVu Sans Mono. */
static const double letter_width = 6.62;

/* ---- texts ---- */

/* The bytes of the first `most` characters at most. */
static size_t characters(const char *text, size_t len, size_t most)
{
	size_t at = 0;

	for (; at < len && most; most--) {
		size_t step = str_utf8_length(text + at, len - at);

		at += step ? step : 1;
	}
	return at;
}

/* JSON inside XML: what the parser of the one would take from the other is written as \u. */
static void add_json(struct str *out, const struct str *json)
{
	for (size_t i = 0; i < json->len; i++) {
		unsigned char c = (unsigned char)json->at[i];

		if (c == '<' || c == '>' || c == '&')
			str_addf(out, "\\u%04x", c);
		else if (c == 0xef && memcmp(json->at + i, "\xef\xbf\xbe", 2) == 0 &&
			 (unsigned char)json->at[i + 2] >= 0xbe)
			str_add(out, "\\ufffd"), i += 2;
		else
			str_add_char(out, (char)c);
	}
}

static void box_name(const struct flame_view *view, const struct flame_box *box, struct str *out)
{
	if (!box->label) {
		str_add(out, "all");
		return;
	}
	label_add_text(box->label, view->by, out);
	if (out->len > NAME_MOST) {
		out->len = NAME_MOST;
		str_add(out, "...");
	}
}

/* ---- colours: flame.css ---- */

static char label_kind_letter(const struct label *label)
{
	const char *module = label_base(label->module);

	return label->flags & LABEL_UNNAMED			      ? 'x'
	       : label->flags & LABEL_KERNEL			      ? 'k'
	       : label->flags & LABEL_JIT			      ? 'j'
	       : strstr(module, ".so") || str_equal(module, "[vdso]") ? 'l'
								      : 'u';
}

/* By the function and the file's name of its module: the same in every run, on every machine. */
static void label_class(const struct label *label, char ret_class[CLASS_SIZE])
{
	const char *module = label_base(label->module);
	uint64_t hash =
		map_hash(label->name, strlen(label->name)) ^ map_hash(module, strlen(module)) * 31;
	char letter = label_kind_letter(label);

	snprintf(ret_class, CLASS_SIZE, "%c%u", letter,
		letter == 'x' ? 0 : (unsigned)((hash >> 32) % VARIATIONS));
}

static void box_class(
	const struct flame_view *view, const struct flame_box *box, char ret_class[CLASS_SIZE])
{
	int change = box->change;

	if (view->compared)
		snprintf(ret_class, CLASS_SIZE, "%c%d",
			change > 0   ? 'p'
			: change < 0 ? 'm'
				     : 'z',
			change < 0 ? -change : change);
	else if (box->label)
		label_class(box->label, ret_class);
	else
		snprintf(ret_class, CLASS_SIZE, "r0");
}

/* ---- what it says in words ---- */

static void side_words(struct str *out, const struct profile_samples *samples)
{
	char count[32], weight[32];

	str_addf(out, "%s samples",
		paper_count(count, sizeof(count), (double)samples->total.samples));
	if (profile_event_is_told(samples->name)) {
		str_add(out, " of ");
		str_add(out, samples->name);
	}
	if (str_equal(samples->unit, "ns"))
		str_addf(out, ", %s",
			paper_time(weight, sizeof(weight), (double)samples->total.weight));
}

static void add_subtitle(
	struct str *out, const struct flame_view *view, const struct flame_options *options)
{
	str_auto struct str words = {0};

	if (view->compared) {
		str_add(&words, "before: ");
		str_add(&words, options->name_a);
		str_add(&words, ", ");
		side_words(&words, view->samples_a);
		str_add(&words, "  →  after: ");
		str_add(&words, options->name_b);
		str_add(&words, ", ");
		side_words(&words, view->samples_b);
	} else {
		if (*options->target) {
			size_t len = strlen(options->target),
			       cut = characters(options->target, len, 100);

			str_add_bytes(&words, options->target, cut);
			str_add(&words, cut < len ? "…  ·  " : "  ·  ");
		}
		side_words(&words, view->samples_a);
	}
	str_addf(out, "<text class=\"words\" x=\"%d\" y=\"44\">", PAD);
	xml_add(out, str_text(&words), words.len);
	str_add(out, "</text>\n");
}

static void add_title(
	struct str *out, const struct flame_view *view, const struct flame_options *options)
{
	const char *title = options->title   ? options->title
			    : view->compared ? "Differential flame graph"
			    : view->inverted
				    ? "Flame graph, inverted: callers stand on their callees"
				    : "Flame graph";

	xml_add(out, title, strlen(title));
}

/* ---- the picture for viewers without script ---- */

struct layout {
	double width, narrowest; /* pixels */
	double *left, *used;	 /* by depth: of the box there, in shares */
	uint32_t rows;
	bool icicle;
};

static void layout_init(
	struct layout *layout, const struct flame_view *view, const struct flame_options *options)
{
	uint32_t count = DRAWN_MOST + 1;

	*layout = (struct layout){
		.width = options->width ? options->width - 2 * PAD : WIDTH_DEFAULT - 2 * PAD,
		.narrowest = 0.25,
		.left = mem_new((size_t)view->deepest + 2, sizeof(double)),
		.used = mem_new((size_t)view->deepest + 2, sizeof(double)),
		.icicle = options->icicle,
	};
	while (count > DRAWN_MOST) {
		layout->narrowest *= 2;
		layout->rows = 1;
		count = 0;
		vec_foreach (const struct flame_box, box, &view->boxes) {
			if (box->width * layout->width < layout->narrowest)
				continue;
			count++;
			if (box->depth >= layout->rows)
				layout->rows = box->depth + 1;
		}
	}
}

static void add_tooltip(struct str *out, const struct flame_view *view, const struct flame_box *box)
{
	char count[32], self[32];

	if (view->compared)
		str_addf(out, "before %.2f %%, after %.2f %%%s", box->a.share * 100,
			box->b.share * 100, box->change ? "" : " (within chance)");
	else
		str_addf(out, "%s samples, %.2f %%; self %s, %.2f %%",
			paper_count(count, sizeof(count), (double)box->a.total.samples),
			box->a.share * 100,
			paper_count(self, sizeof(self), (double)box->a.self.samples),
			box->a.self_share * 100);
}

static void add_box(struct str *out, const struct layout *layout, const struct flame_view *view,
	const struct flame_box *box)
{
	double x = layout->left[box->depth] * layout->width, wide = box->width * layout->width;
	uint32_t y = (layout->icicle ? box->depth : layout->rows - 1 - box->depth) * ROW;
	unsigned space_left = wide > 7 ? (unsigned)((wide - 7) / letter_width) : 0;
	str_auto struct str name = {0}, shown = {0};
	char class[CLASS_SIZE];

	box_name(view, box, &name);
	box_class(view, box, class);
	str_addf(out, "<g class=\"f %s%s%s\"><title>", class, box->inlined ? " i" : "",
		wide < 3 ? " thin" : "");
	xml_add(out, str_text(&name), name.len);
	str_add(out, ": ");
	add_tooltip(out, view, box);
	str_addf(out, "</title><rect x=\"%.2f\" y=\"%u\" width=\"%.2f\" height=\"%d\"%s/>", x, y,
		wide, ROW - 1, wide > 6 ? " rx=\"2\"" : "");
	if (wide >= 24 && space_left >= 3) {
		if (space_left >= 8 || space_left >= name.len)
			name_shorten(str_text(&name), space_left, &shown);
		else
			str_add_bytes(&shown, name.at, characters(name.at, name.len, space_left));
		str_addf(out, "<text x=\"%.2f\" y=\"%.1f\">", x + 4, y + 12.5);
		xml_add(out, str_text(&shown), shown.len);
		str_add(out, "</text>");
	}
	str_add(out, "</g>\n");
}

static void add_boxes(struct stream *out, struct layout *layout, const struct flame_view *view)
{
	str_addf(&out->text,
		"<g class=\"frames\" transform=\"translate(%d %d)\" role=\"tree\" "
		"aria-label=\"call tree: arrow keys move, Enter zooms, Escape resets\">\n",
		PAD, TOP);
	vec_foreach (const struct flame_box, box, &view->boxes) {
		uint32_t depth = box->depth;

		layout->left[depth] = depth ? layout->left[depth - 1] + layout->used[depth - 1] : 0;
		layout->used[depth] = 0;
		if (depth)
			layout->used[depth - 1] += box->width;
		if (box->width * layout->width < layout->narrowest)
			continue;
		add_box(&out->text, layout, view, box);
		stream_pace(out);
	}
	str_add(&out->text, "</g>\n");
}

/* ---- below the picture ---- */

static unsigned add_swatch(struct str *out, unsigned x, const char *class, const char *words)
{
	str_addf(out,
		"<g class=\"f %s\"><rect x=\"%u\" y=\"12\" width=\"22\" height=\"13\" "
		"rx=\"2\"/></g>"
		"<text class=\"words\" x=\"%u\" y=\"23\">%s</text>",
		class, x, x + 28, words);
	return x + 44 + (unsigned)strlen(words) * 63 / 10;
}

static void add_legend(struct str *out, const struct flame_view *view)
{
	static const struct {
		char letter;
		const char *class, *words;
	} kinds[] = {{'u', "u0", "program"}, {'l', "l1", "library"}, {'k', "k1", "kernel"},
		{'j', "j1", "JIT"}, {'x', "x0", "no name"}};
	unsigned x = PAD;
	bool inlined = false;

	if (view->compared) {
		x = add_swatch(out, x, "m4", "shrank");
		x = add_swatch(out, x, "m2", "a little");
		x = add_swatch(out, x, "z0", "no change, or within chance");
		x = add_swatch(out, x, "p2", "a little");
		add_swatch(out, x, "p4", "grew");
		return;
	}
	for (unsigned i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		vec_foreach (const struct flame_box, box, &view->boxes)
			if (box->label && label_kind_letter(box->label) == kinds[i].letter) {
				x = add_swatch(out, x, kinds[i].class, kinds[i].words);
				break;
			}
	vec_foreach (const struct flame_box, box, &view->boxes)
		inlined |= box->inlined;
	if (inlined)
		add_swatch(out, x, "u0 i", "inlined (slanted, pale)");
}

/* What the picture does not show; one line each. */
static unsigned add_notes(struct str *out, const struct flame_view *view)
{
	const struct profile_samples *sides[] = {view->samples_a, view->samples_b};
	str_auto struct str lines = {0};
	char count[32];
	unsigned y = 44, start = y;

	if (view->left_out)
		str_addf(&lines, "%s%s boxes narrower than %.3g %% of the whole are omitted\n",
			view->is_more ? "more than " : "",
			paper_count(count, sizeof(count), view->left_out), view->narrowest * 100);
	if (view->cut_samples)
		str_addf(&lines, "%s samples have more frames than shown (--depth)\n",
			paper_count(count, sizeof(count), (double)view->cut_samples));
	for (unsigned i = 0; i < 2 && sides[i]; i++) {
		double whole = (double)sides[i]->total.samples, cut;

		cut = (double)(sides[i]->truncated + sides[i]->broken);
		if (cut > 0)
			str_addf(&lines,
				"%s%.2g %% of the stacks are incomplete: their outermost callers "
				"were "
				"not seen\n",
				!view->compared ? ""
				: i		? "after: "
						: "before: ",
				cut / whole * 100);
	}
	for (char *line = lines.at, *next; line && *line; line = next + 1, y += 17) {
		next = strchr(line, '\n');
		str_addf(out, "<text class=\"words\" x=\"%d\" y=\"%u\">%.*s</text>\n", PAD, y,
			(int)(next - line), line);
	}
	return y - start;
}

/* ---- the numbers for the script ---- */

static void add_column(struct stream *out, const struct flame_view *view, const char *name,
	double (*value)(const struct flame_box *))
{
	str_addf(&out->text, ",\"%s\":[", name);
	vec_foreach (const struct flame_box, box, &view->boxes) {
		str_addf(&out->text, "%s%.0f", box == view->boxes.at ? "" : ",", value(box));
		stream_pace(out);
	}
	str_add_char(&out->text, ']');
}

static double box_depth(const struct flame_box *box)
{
	return box->depth;
}

static double box_change(const struct flame_box *box)
{
	return box->change;
}

#define SIDE_COLUMN(side, key, member)                                                             \
	static double side##_##key##_##member(const struct flame_box *box)                         \
	{                                                                                          \
		return (double)box->side.key.member;                                               \
	}
SIDE_COLUMN(a, total, samples)
SIDE_COLUMN(a, total, weight)
SIDE_COLUMN(a, self, samples)
SIDE_COLUMN(a, self, weight)
SIDE_COLUMN(b, total, samples)
SIDE_COLUMN(b, total, weight)
SIDE_COLUMN(b, self, samples)
SIDE_COLUMN(b, self, weight)

/* When every sample weighs the same, the weights need no columns. */
static uint64_t weight_of_each(const struct flame_view *view, bool b)
{
	const struct flame_side *root = b ? &view->boxes.at[0].b : &view->boxes.at[0].a;
	uint64_t each = root->total.samples ? root->total.weight / root->total.samples : 1;

	vec_foreach (const struct flame_box, box, &view->boxes) {
		const struct flame_side *side = b ? &box->b : &box->a;

		if (side->total.weight != each * side->total.samples ||
			side->self.weight != each * side->self.samples)
			return 0;
	}
	return each;
}

static void add_side(struct stream *out, const struct flame_view *view, bool b)
{
	const struct profile_samples *samples = b ? view->samples_b : view->samples_a;
	const struct flame_side *root = b ? &view->boxes.at[0].b : &view->boxes.at[0].a;
	uint64_t each = weight_of_each(view, b);
	str_auto struct str head = {0};
	struct jsonw w = {.out = &head, .compact = true};

	jsonw_begin_object(&w);
	jsonw_put_text(&w, "unit", samples->unit);
	jsonw_put_u64(&w, "whole", root->total.weight);
	jsonw_put_u64(&w, "each", each);
	add_json(&out->text, &head);
	add_column(out, view, "totalSamples", b ? b_total_samples : a_total_samples);
	add_column(out, view, "selfSamples", b ? b_self_samples : a_self_samples);
	if (!each) {
		add_column(out, view, "total", b ? b_total_weight : a_total_weight);
		add_column(out, view, "self", b ? b_self_weight : a_self_weight);
	}
	str_add_char(&out->text, '}');
}

static void put_held(struct jsonw *w, const char *key, const char *text)
{
	str_auto struct str held = {0};

	xml_add_held(&held, text, strlen(text));
	jsonw_put_text(w, key, str_text(&held));
}

static void label_json(struct str *out, const struct flame_view *view, const struct flame_box *box)
{
	const struct label *label = box->label;
	str_auto struct str json = {0}, name = {0};
	struct jsonw w = {.out = &json, .compact = true};
	char class[CLASS_SIZE];

	box_name(view, box, &name);
	label_class(label, class);
	jsonw_begin_object(&w);
	put_held(&w, "name", str_text(&name));
	jsonw_put_text(&w, "class", class);
	if (*label->module)
		put_held(&w, "module", label_base(label->module));
	if (*label->file)
		put_held(&w, "file", label_base(label->file));
	if (label->line)
		jsonw_put_u64(&w, "line", label->line);
	jsonw_end_object(&w);
	add_json(out, &json);
}

/* The label of each box as an index, then the labels; the root's 0 is not looked at. */
static void add_labels(struct stream *out, const struct flame_view *view)
{
	struct map known = {0};
	vec_of(uint32_t) first = {0}; /* the first box of each label */

	str_add(&out->text, ",\"label\":[");
	vec_foreach (const struct flame_box, box, &view->boxes) {
		uintptr_t key = (uintptr_t)box->label;
		uint32_t index = 0;

		if (key && !map_get(&known, &key, sizeof(key), &index)) {
			index = first.count;
			map_put(&known, &key, sizeof(key), index);
			vec_push(&first, (uint32_t)(box - view->boxes.at));
		}
		str_addf(&out->text, "%s%u", box == view->boxes.at ? "" : ",", index);
		stream_pace(out);
	}
	str_add(&out->text, "],\"labels\":[");
	for (uint32_t i = 0; i < first.count; i++) {
		str_add(&out->text, i ? ",\n" : "\n");
		label_json(&out->text, view, &view->boxes.at[first.at[i]]);
		stream_pace(out);
	}
	str_add_char(&out->text, ']');
	vec_done(&first);
	map_done(&known);
}

static void add_data(struct stream *out, const struct flame_view *view,
	const struct flame_options *options, unsigned foot)
{
	str_addf(&out->text,
		"<script type=\"application/json\">{\"size\":%d,\"fixed\":%s,\"icicle\":%s,"
		"\"top\":%d,\"foot\":%u,\"leftOut\":%u,\"help\":\"click a box to zoom; Tab and the "
		"arrow keys move, Enter zooms, Escape goes back\"",
		(int)(options->width ? options->width : WIDTH_DEFAULT) - 2 * PAD,
		options->width ? "true" : "false", options->icicle ? "true" : "false", TOP, foot,
		view->left_out);
	add_column(out, view, "depth", box_depth);
	str_add(&out->text, ",\"inlined\":\"");
	vec_foreach (const struct flame_box, box, &view->boxes)
		str_add_char(&out->text, box->inlined ? '1' : '0');
	str_add_char(&out->text, '"');
	add_labels(out, view);
	str_add(&out->text, ",\"a\":");
	add_side(out, view, false);
	if (view->compared) {
		add_column(out, view, "change", box_change);
		str_add(&out->text, ",\"b\":");
		add_side(out, view, true);
	}
	str_add(&out->text, "}</script>\n");
}

/* ---- the file ---- */

static void add_head(struct str *out, const struct flame_view *view,
	const struct flame_options *options, unsigned height)
{
	unsigned width = options->width ? options->width : WIDTH_DEFAULT;

	str_addf(out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- made by assay %s; self-contained "
		"-->\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" "
		"viewBox=\"0 0 %u %u\" aria-label=\"",
		ASSAY_VERSION, width, height, width, height);
	add_title(out, view, options);
	str_add(out,
		"\">\n<desc>A box is a function; its width is its share of the samples, including "
		"what it called. The same as text: assay report.</desc>\n<style><![CDATA[\n");
	str_add_bytes(out, (const char *)flame_style, flame_style_len);
	str_addf(out, "]]></style>\n<text class=\"title\" x=\"%d\" y=\"26\">", PAD);
	add_title(out, view, options);
	str_add(out, "</text>\n");
	add_subtitle(out, view, options);
	str_addf(out,
		"<text class=\"words hint\" x=\"%d\" y=\"74\">open this file in a browser to zoom "
		"and search</text>\n",
		PAD);
}

void flame_svg(
	struct stream *out, const struct flame_view *view, const struct flame_options *options)
{
	str_auto struct str foot = {0};
	struct layout layout;
	unsigned foot_height, picture;

	layout_init(&layout, view, options);
	add_legend(&foot, view);
	foot_height = 36 + add_notes(&foot, view);
	picture = layout.rows * ROW;
	add_head(&out->text, view, options, TOP + picture + foot_height);
	add_boxes(out, &layout, view);
	str_addf(&out->text, "<g class=\"foot\" transform=\"translate(0 %u)\">", TOP + picture);
	str_add_bytes(&out->text, str_text(&foot), foot.len);
	str_add(&out->text, "</g>\n");
	add_data(out, view, options, foot_height);
	str_add(&out->text, "<script><![CDATA[\n");
	str_add_bytes(&out->text, (const char *)flame_script, flame_script_len);
	str_add(&out->text, "]]></script>\n</svg>\n");
	free(layout.left);
	free(layout.used);
}
