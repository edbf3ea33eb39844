"""What the tests of real servers share: a server as a process of its own, deem as a program, and
what is expected of a diagnosis. Python's standard library alone."""

import contextlib
import json
import math
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
SKIPPED = 77


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def provided(*command):
    """The last line of a program that provides something; skips the test when it can not."""
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    sys.stderr.write(done.stderr)
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or [f"{command[0]} failed"]
        skip(lines[-1])
    return done.stdout.strip().splitlines()[-1]


def given(name, what):
    """A path from the environment, as `make test-real` sets it."""
    value = os.environ.get(name, "")
    if not value:
        skip(f"{name} is not set ({what})")
    return value


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def answers(url, key=None):
    """The body of a GET, or None while nothing answers well there."""
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {key}"} if key else {})
    try:
        with urllib.request.urlopen(request, timeout=5) as reply:
            return reply.read()
    except (OSError, urllib.error.URLError):
        return None


def post(url, body, key=None):
    """Status and JSON of a POST."""
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    try:
        with urllib.request.urlopen(request, timeout=600) as reply:
            return reply.status, json.loads(reply.read())
    except urllib.error.HTTPError as failed:
        return failed.code, json.loads(failed.read() or b"null")


@contextlib.contextmanager
def serving(argv, ready, seconds, key=None, env=None, cwd=None):
    """A server until the block ends, once `ready` (an address) answers. Its words go to a file,
    whose end is shown when it does not start."""
    with tempfile.NamedTemporaryFile("w+", prefix="deem-real-", suffix=".log") as log:
        process = subprocess.Popen(argv, stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd=cwd,
                                   env=os.environ | (env or {}), start_new_session=True)
        try:
            until = time.monotonic() + seconds
            while answers(ready, key) is None:
                if process.poll() is not None or time.monotonic() > until:
                    tail = pathlib.Path(log.name).read_text(errors="replace").splitlines()[-15:]
                    raise AssertionError(f"{argv[0]} does not answer at {ready}:\n" + "\n".join(tail))
                time.sleep(0.2)
            yield process
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, 15)
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, 9)
                process.wait()


def deem(*arguments, env=None):
    """Runs deem; its result as subprocess.run tells it."""
    program = given("DEEM_PROGRAM", "the built deem")
    return subprocess.run([program, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env=os.environ | (env or {}), timeout=3000)


def diagnose(*arguments, env=None):
    """`deem doctor … --json` as data; shows its verdicts."""
    done = deem("doctor", *arguments, "--json", "--timeout", "300", env=env)
    assert done.returncode in (0, 1, 3), f"deem doctor: {done.returncode}\n{done.stderr}"
    diagnosis = json.loads(done.stdout)
    verdicts = [probe["verdict"] for probe in diagnosis["probes"]]
    print(f"  {diagnosis['seat']['kind']} {diagnosis['seat']['build']}: {verdicts.count('ok')} ok, "
          f"{verdicts.count('finding')} findings, {verdicts.count('not measured')} not measured, "
          f"{diagnosis['requests']} requests, {diagnosis['took_s']:.1f} s")
    assert done.returncode == (1 if "finding" in verdicts else 0 if "ok" in verdicts else 3)
    return diagnosis


def expect(diagnosis, findings=(), not_measured=()):
    """Every probe is ok but those named."""
    wrong = []
    for probe in diagnosis["probes"]:
        name = probe["name"]
        wanted = "finding" if name in findings else "not measured" if name in not_measured else "ok"
        if probe["verdict"] != wanted:
            wrong.append(f"  {name}: wanted {wanted}, got {probe['verdict']}: {probe['says']}")
    assert not wrong, "\n".join(["the diagnosis differs:"] + wrong)


def probe(diagnosis, name):
    return next(one for one in diagnosis["probes"] if one["name"] == name)


def supported(diagnosis):
    return {one["name"] for one in diagnosis["readings"] if one["supported"]}


def ask_kit(folder, *arguments, env=None):
    """The first items of the bundled kit into `folder`; the rows, probe rows apart."""
    done = deem("run", "--kit", str(ROOT / "kits" / "demo"), "--out", str(folder), *arguments, env=env)
    assert done.returncode == 0, f"deem run: {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
    lines = (pathlib.Path(folder) / "rows.jsonl").read_text().splitlines()
    rows = [row for row in map(json.loads, lines) if "probe" not in row]
    assert rows, f"{folder} holds no rows"
    return rows


def letters(row):
    """Probabilities by letter of a row's reading `letters`, None where one is not seen."""
    reading = row["readings"]["letters"]
    assert not reading.get("cause") and not reading.get("error"), f"{row['task']} {row['id']}: {reading}"
    return [None if value is None else math.exp(value) for value in reading["rounds"][0]["logprobs"]]


def apart(first, second):
    """The most that a probability of the same item differs by between two lists of rows."""
    other = {(row["task"], row["id"]): letters(row) for row in second}
    most = 0
    for row in first:
        for a, b in zip(letters(row), other[row["task"], row["id"]], strict=True):
            if a is not None and b is not None:
                most = max(most, abs(a - b))
    return most
