/* types.h - stands in for the kernel's <linux/types.h> in BPF programs: headers of wire that they
 * share with the tool ask for it, and the real one is not there for the target bpf everywhere. */
#pragma once

#include "../../kernel_types.h"
