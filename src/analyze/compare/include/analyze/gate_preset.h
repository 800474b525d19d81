/* gate_preset.h - how bad a slowdown is: the tables of data/gate.presets.
 *
 * Pure.  Owns: nothing; names live in the caller's arena. */
#pragma once

#include "base/arena.h"
#include "base/err.h"

enum gate_severity { GATE_NONE, GATE_MINOR, GATE_MODERATE, GATE_MAJOR, GATE_SEVERITIES };

struct gate_preset {
	const char *name;
	double above[GATE_SEVERITIES]; /* a change above this share is that bad; infinite: unused */
	enum gate_severity fail_on;
};

/* The preset of that name; NULL: the default one.  -EINVAL names those that exist. */
int gate_preset_find(
	const char *name, struct arena *arena, struct gate_preset *ret_preset, struct err *err);

enum gate_severity gate_severity_of(const struct gate_preset *preset, double change);

/* The smallest change that is named at all, and the smallest that fails. */
double gate_preset_least(const struct gate_preset *preset);
double gate_preset_limit(const struct gate_preset *preset);

const char *gate_severity_name(enum gate_severity severity);
/* GATE_NONE for a word that is none of them. */
enum gate_severity gate_severity_named(const char *name);
