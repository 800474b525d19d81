/* folded.c - "main;read;copy 12": one line per distinct chain of functions, the outermost
 * first.
 *
 * Made from the call tree: chains that differ only in their addresses are one line, so the file is
 * as small as it can be and two exports of the same run are the same bytes.  A depth-first walk
 * keeps the text of the path and cuts it on the way up. */
#include "export_parts.h"

static void add_name(struct str *path, const struct call_tree *tree, uint32_t node,
	const struct export_options *options)
{
	const struct label *label = call_tree_label(tree, &tree->nodes.at[node]);
	str_auto struct str name = {0};

	label_add_text(label, tree->labels.kind, &name);
	if (path->len)
		str_add_char(path, ';');
	export_plain(path, str_text(&name), ';');
	if (options->kernel_marks && label->flags & LABEL_KERNEL)
		str_add(path, "_[k]");
}

static void add_line(struct stream *out, const struct str *path, const struct profile_cost *cost,
	const struct export_options *options)
{
	uint64_t weight = options->by_period ? cost->weight : cost->samples;

	if (!weight)
		return;
	str_add_bytes(&out->text, str_text(path), path->len);
	str_addf(&out->text, " %llu\n", (unsigned long long)weight);
	stream_pace(out);
}

void export_folded(
	struct stream *out, const struct call_tree *tree, const struct export_options *options)
{
	str_auto struct str path = {0};
	vec_of(size_t) lengths = {0}; /* of the path above each level */
	uint32_t node = tree->nodes.at[0].first_child;

	while (node && !out->error) {
		const struct call_tree_node *at = &tree->nodes.at[node];

		vec_push(&lengths, path.len);
		add_name(&path, tree, node, options);
		add_line(out, &path, &at->self, options);
		if (at->first_child) {
			node = at->first_child;
			continue;
		}
		for (; node; node = tree->nodes.at[node].parent) {
			path.len = lengths.at[--lengths.count];
			path.at[path.len] = '\0';
			if (tree->nodes.at[node].next_sibling) {
				node = tree->nodes.at[node].next_sibling;
				break;
			}
			if (!tree->nodes.at[node].parent) {
				node = 0;
				break;
			}
		}
	}
	vec_done(&lengths);
}
