"""The most memory that a command held, by the operating system's account, and a test of that
account.

`peak_resident_bytes` is `ru_maxrss` of the process, from `wait4`. The kernel counts into it what
the process was before it ran its program, so a large script would be counted as its child. A
launcher of a few MB stands in between. `group_peak_bytes` is `memory.max_usage_in_bytes` of a
memory group (cgroup v1) in which the command runs alone. It has the page cache of what the command
read and wrote too. The kernel takes that back when the group reaches its limit, so files larger
than the limit do no harm there, and only memory that cannot be given back leads to a kill.
"""
import contextlib
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import time

from harness import CGROUP, MIB, MemoryGroup, Unable

UNLIMITED = 1 << 40
LAUNCHER = """
import os, sys
group, answer, program = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
os.set_inheritable(answer, False)
child = os.fork()
if child == 0:
    if group:
        with open(group + "/cgroup.procs", "w") as file:
            file.write(str(os.getpid()))
    os.execvp(program[0], program)
_, status, usage = os.wait4(child, 0)
figures = os.waitstatus_to_exitcode(status), usage.ru_maxrss * 1024, usage.ru_utime + usage.ru_stime
os.write(answer, " ".join(map(str, figures)).encode())
"""
PYTHON = [sys.executable, "-I", "-S", "-c"]
# How much of an argument is kept in a row: a phrase of 1,024 words is long, and text of a corpus.
ARGUMENT_CHARACTERS = 100, 26
# Of the last line of what it told.
ERROR_CHARACTERS = 300


def groups_work():
    """Whether this machine has memory groups (cgroup v1) and lets this process make them."""
    return (CGROUP / "memory.limit_in_bytes").exists() and os.access(CGROUP, os.W_OK)


def measured(command, limit_bytes=None, timeout=None):
    """Runs a command to its end: a row with its peak memory, and the text that it printed.

    With a limit the command runs in a memory group of that size. Without one it runs in a group
    that only counts, or in none where there are no groups.
    """
    command = [str(word) for word in command]
    if not groups_work():
        if limit_bytes:
            raise Unable(f"a limit needs memory groups (cgroup v1) at {CGROUP}: mount them and run as root")
        return launched(command, None, timeout)
    with MemoryGroup(limit_bytes or UNLIMITED) as group:
        row, text = launched(command, group, timeout)
        figures = group.figures()
    return row | {"group_limit_bytes": limit_bytes, "group_peak_bytes": figures["most_used_bytes"],
                  "kills": figures["kills"]}, text


def shown(command):
    """A command line, with long arguments cut."""
    most, kept = ARGUMENT_CHARACTERS
    return shlex.join(word if len(word) <= most else word[:kept] + "…" for word in command)


def launched(command, group, timeout):
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        answer, told = os.pipe()
        start = time.monotonic()
        launcher = subprocess.Popen(
            [*PYTHON, LAUNCHER, str(group.folder) if group else "", str(told), *command], pass_fds=[told],
            stdin=subprocess.DEVNULL, stdout=output, stderr=errors, start_new_session=True)
        os.close(told)
        try:
            timed_out = ended(launcher, timeout)
        finally:
            # Launcher and command are a session of their own.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(launcher.pid, signal.SIGKILL)
            launcher.wait()
        seconds = time.monotonic() - start
        figures = os.read(answer, 1000).decode().split()
        os.close(answer)
        output.seek(0), errors.seek(0)
        text, error = output.read(), errors.read().strip()
    if not figures and not timed_out:
        raise Unable(f"the launcher of {command[0]} ended without figures: {error[-500:]}")
    code, peak, cpu = (int(figures[0]), int(figures[1]), float(figures[2])) if figures else (None, None, None)
    return {"command": shown(command), "exit_code": code, "peak_resident_bytes": peak,
            "seconds": round(seconds, 3), "cpu_seconds": cpu, "timed_out": timed_out, "kills": 0, "error": "".join(error.splitlines()[-1:])[:ERROR_CHARACTERS]}, text


def ended(launcher, timeout):
    """Waits for the launcher; whether that took too long."""
    try:
        launcher.wait(timeout)
        return False
    except subprocess.TimeoutExpired:
        return True


# The test of the instruments


def self_test():
    """Programs that take known memory must be measured so; gives what was measured."""
    empty = taking(0)
    found = {"launcher_and_python_bytes": empty}
    for mib in (64, 200):
        found[f"{mib}_mib"] = taken = taking(mib * MIB) - empty
        expect(f"{mib} MiB", abs(taken - mib * MIB) <= 2 * MIB, f"{taken / MIB:.1f} MiB")
    ballast = bytearray(os.urandom(1 << 20)) * 300
    row, _ = measured(["true"])
    expect("a script of 300 MB that runs a small program", row["peak_resident_bytes"] < 16 * MIB,
           f"{row['peak_resident_bytes'] / MIB:.1f} MiB")
    found["small_program_bytes"] = row["peak_resident_bytes"]
    del ballast
    if groups_work():
        row, _ = measured([*PYTHON, program(200 * MIB)])
        expect("200 MiB in a group", row["group_peak_bytes"] >= 200 * MIB, f"{row['group_peak_bytes'] / MIB:.1f} MiB")
        row, _ = measured([*PYTHON, program(200 * MIB)], limit_bytes=100 * MIB)
        expect("200 MiB in a group of 100 MiB", row["exit_code"] == -signal.SIGKILL and row["kills"] > 0, f"{row['exit_code']}")
        found["group_kills"] = True
    return found


def taking(size):
    row, _ = measured([*PYTHON, program(size)])
    if row["exit_code"] != 0:
        raise Unable(f"the self-test's program ended with {row['exit_code']}: {row['error']}")
    return row["peak_resident_bytes"]


def program(size):
    # Every page is written, so every page is there.
    return f"memory = bytearray({size})\nfor at in range(0, {size}, 4096): memory[at] = 1"


def expect(what, holds, found):
    if not holds:
        raise Unable(f"self-test: {what} was measured as {found}; no figure of this machine can be trusted")
