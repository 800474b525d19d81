/* export_parts.h - between the files of the export formats. */
#pragma once

#include "render/export.h"

void export_chrome(
	struct stream *out, const struct sample_walk *walk, const struct export_options *options);
void export_firefox(
	struct stream *out, const struct sample_walk *walk, const struct export_options *options);
void export_folded(
	struct stream *out, const struct call_tree *tree, const struct export_options *options);
void export_json(
	struct stream *out, const struct sample_walk *walk, const struct export_options *options);
void export_perf_script(
	struct stream *out, const struct sample_walk *walk, const struct export_options *options);
void export_pprof(
	struct stream *out, const struct sample_walk *walk, const struct export_options *options);
void export_speedscope(
	struct stream *out, const struct sample_walk *walk, const struct export_options *options);

/* A name in a text format: what is not shown (str.h) is a blank, and `separator` (0: none) is ':'.
 * Bytes that are no UTF-8 stay: another program may know their encoding. */
void export_plain(struct str *out, const char *text, char separator);

/* The function of a node. */
const struct walk_function *export_function(const struct sample_walk *walk, uint32_t node);

/* The thread's name, or ":TID" as perf calls one without. */
void export_thread_name(struct str *out, const struct walk_thread *thread);
