/* runtime_parts.h - the parts of the runtime, each started by its constructor; none of them fails
 * aloud. */
#pragma once

/* Find the tool that runs causal experiments on this process, if there is one. */
void runtime_causal_start(void);
