/* causal.shared.h - what the causal program and its loader share and the target never sees: whom to
 * sample, where the target of the experiment lies, what was counted. */
#pragma once

#include "wire/causal_control.h"

/* Addresses that samples are counted by; more than a hot program has. */
enum { ASSAY_CAUSAL_SPOTS = 16384 };
