"""outside.py - what is seen of a process from outside."""
import os
import re


def state(pid):
    """What must be as before an attach: mappings, handlers, masks, descriptors."""
    folder = f"/proc/{pid}"
    with open(f"{folder}/maps", encoding="utf-8") as file:
        # The kernel's page for uprobes stays in a process until its end.  Heaps may grow.
        maps = [re.sub(r"^\S+ ", "", line) if "[heap]" in line else line for line in file
                if "[uprobes]" not in line]
    with open(f"{folder}/status", encoding="utf-8") as file:
        status = [line for line in file if re.match("Sig(Cgt|Ign|Blk)|Tracer", line)]
    return maps, status, sorted(os.listdir(f"{folder}/fd"))
