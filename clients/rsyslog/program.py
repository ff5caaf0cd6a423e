"""Tries rsyslog's output omelasticsearch with a process and a configuration of its own:
program.py URL DOCUMENTS. RSYSLOG names the folder into which the packages were unpacked."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

LINES = 50
CONFIGURATION = """
global(workDirectory="{folder}")
module(load="imfile")
module(load="omelasticsearch")
input(type="imfile" File="{folder}/lines" Tag="app:" readTimeout="1")
template(name="document" type="list" option.jsonf="on") {{
  property(outname="@timestamp" name="timereported" dateFormat="rfc3339" format="jsonf")
  property(outname="tag" name="syslogtag" format="jsonf")
  property(outname="message" name="msg" format="jsonf")
}}
action(type="omelasticsearch" server="127.0.0.1" serverport="{port}" searchIndex="syslog"
       searchType="_doc" bulkmode="on" template="document" errorFile="{folder}/errors")
"""


def count(url: str) -> int:
    try:
        with urllib.request.urlopen(f"{url}/syslog/_count", timeout=10) as answer:
            return int(json.load(answer)["count"])
    except urllib.error.HTTPError:
        return 0


def main(url: str) -> int:
    unpacked = Path(os.environ["RSYSLOG"])
    library = unpacked / "usr/lib/x86_64-linux-gnu"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "lines").write_text("".join(f'line {n} of "web"\n' for n in range(LINES)))
        configuration = CONFIGURATION.format(folder=folder, port=url.rsplit(":", 1)[1])
        (folder / "rsyslog.conf").write_text(configuration)
        command = [unpacked / "usr/sbin/rsyslogd", "-n", "-f", folder / "rsyslog.conf"]
        command += ["-i", folder / "pid", "-M", library / "rsyslog"]
        environment = os.environ | {"LD_LIBRARY_PATH": str(library)}
        with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as daemon:
            limit = time.monotonic() + 60
            while count(url) < LINES and time.monotonic() < limit and daemon.poll() is None:
                time.sleep(0.5)
            daemon.terminate()
            told = daemon.stderr.read() if daemon.stderr else ""
        errors = folder / "errors"
        found = count(url)
        if found != LINES:
            rejected = errors.read_text()[:500] if errors.exists() else ""
            print(f"{found} of {LINES} lines came: {told[:500]} {rejected}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
