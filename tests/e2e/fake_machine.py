"""fake_machine.py - the settings of a machine as plain files, for `assay tune`."""
import os

CPU = "sys/devices/system/cpu/"
POLICIES = 16
PLAIN = {
    CPU + "intel_pstate/no_turbo": "0",
    "proc/sys/kernel/nmi_watchdog": "1",
    "proc/sys/kernel/timer_migration": "1",
    "proc/sys/kernel/numa_balancing": "1",
    "proc/sys/kernel/perf_event_paranoid": "4",
    "proc/sys/vm/swappiness": "60",
    "sys/kernel/mm/transparent_hugepage/enabled": "[always] madvise never",
    CPU + "smt/control": "on",
}
SWAPPINESS = "/proc/sys/vm/swappiness"


def put(root, path, text):
    path = os.path.join(root, path.lstrip("/"))
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text + "\n")


def tree():
    """A machine of plain files; returns its folder and what assay has to be told."""
    root = os.path.abspath("machine")
    put(root, "proc/sys/kernel/random/boot_id", "11-22-33")
    for path, value in PLAIN.items():
        put(root, path, value)
    for i in range(POLICIES):
        folder = f"{CPU}cpufreq/policy{i}/"
        put(root, folder + "scaling_governor", "powersave")
        put(root, folder + "scaling_available_governors", "performance powersave")
        put(root, folder + "energy_performance_preference", "balance_power")
        put(root, folder + "scaling_min_freq", str(800000 + i))
        put(root, folder + "scaling_max_freq", "4700000")
    return root, {"ASSAY_TUNE_ROOT": root}


def values(root):
    """path -> first line, or the word in brackets, of every setting."""
    found = {}
    for folder, _, files in os.walk(root):
        for name in files:
            path = os.path.join(folder, name)
            if "/var/lib/" not in path:
                with open(path, encoding="utf-8") as file:
                    line = file.readline().strip()
                found[path] = line.split("[")[1].split("]")[0] if "[" in line else line
    return found
