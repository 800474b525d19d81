/* export.h - samples and results in other tools' formats.
 *
 * One file per format; each writes what the walk holds and computes nothing.  What a format cannot
 * carry is said in docs/commands/export.md.  Threads: one stream per export. */
#pragma once

#include <stdbool.h>

#include "analyze/call_tree.h"
#include "analyze/sample_walk.h"
#include "base/str.h"
#include "base/stream.h"

struct bench_view;
struct causal_log;
struct gate_page;

struct export_options {
	bool by_period;	   /* weights are periods; else every sample weighs 1 */
	bool kernel_marks; /* folded: kernel functions end in _[k] */
	bool merged;	   /* the walk is in order WALK_MERGED */
};

struct export_format {
	const char *name;
	const char *file;      /* default name of the result */
	const char *read_by;   /* who opens it, for people */
	enum walk_order order; /* of the walk that it wants */
	bool can_merge;	       /* or WALK_MERGED, with --merged */
	bool has_weight;       /* by_period means something */
	void (*write)(struct stream *out, const struct sample_walk *walk,
		const struct export_options *options);
	/* Instead, for a format that is a merged tree and nothing else. */
	void (*write_tree)(struct stream *out, const struct call_tree *tree,
		const struct export_options *options);
};

/* All of them; ends with a row without a name. */
extern const struct export_format export_formats[];

/* hyperfine's JSON document (times in seconds); one CSV row per run. */
void bench_export_json(struct str *out, const struct bench_view *view);
void bench_export_csv(struct str *out, const struct bench_view *view);

/* The experiments for coz's viewer. */
void causal_coz(struct str *out, const struct causal_log *log);

/* GitHub's workflow commands, one a line: ::error file=...,line=...,title=...::text */
void gate_github(struct str *out, const struct gate_page *page);
/* A text inside a workflow command; a property must not hold : and , either. */
void github_escape(struct str *out, const char *text, bool property);
/* A screen for a runner, which takes lines that begin with :: and every ##[ for its commands. */
void github_disarm(const struct str *text, struct str *out);
