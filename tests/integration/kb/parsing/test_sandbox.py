"""What the reading process gives up, each tried by a process that went through the same locks."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fakes.machine.patience import GUARD_SECONDS

ROOT = Path(__file__).parents[4]
ENTER = f"""
import sys, os, json, socket, ctypes, platform
sys.path.insert(0, {str(ROOT)!r})
from kb.parsing import sandbox
from kb.parsing.limits import ParsingLimits
from tests.fakes.machine.patience import GUARD_SECONDS
BEFORE
missing = sandbox.enter(
    ParsingLimits(memory_bytes=512 * 2**20, cpu_seconds=2), readable=[{str(ROOT / "kb")!r}], programs=PROGRAMS
)
"""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has these locks")


def run_locked(code: str, *, programs: bool = False, before: str = "") -> subprocess.CompletedProcess[str]:
    start = ENTER.replace("PROGRAMS", str(programs)).replace("BEFORE", before) + code
    return subprocess.run([sys.executable, "-I", "-c", start], capture_output=True, text=True, timeout=GUARD_SECONDS)


def tried(*actions: str, programs: bool = False) -> list[str]:
    """The names of the errors that actions of one process end in, or ``done``."""
    code = f"""
for action in {actions!r}:
    try:
        exec(action)
    except BaseException as err:
        print(type(err).__name__)
    else:
        print("done")
"""
    return run_locked(code, programs=programs).stdout.split()


def test_this_system_gives_every_lock():
    assert json.loads(run_locked("print(json.dumps(missing))").stdout) == []


def test_no_socket_can_be_opened():
    families = ("AF_INET", "AF_INET6", "AF_UNIX", "AF_NETLINK")
    assert tried(*(f"socket.socket(socket.{family})" for family in families)) == 4 * ["PermissionError"]


def test_no_file_can_be_written_made_or_removed(tmp_path):
    kept = tmp_path / "kept"
    kept.write_text("as it was")
    found = tried(
        f"open({str(tmp_path / 'new')!r}, 'w')", f"open({str(kept)!r}, 'a')", f"os.unlink({str(kept)!r})",
        f"os.mkdir({str(tmp_path / 'folder')!r})",
    )  # fmt: skip
    assert found == 4 * ["PermissionError"]
    assert kept.read_text() == "as it was"


def test_files_are_readable_only_where_code_lives(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("a key")
    places = (secret, "/etc/passwd", ROOT / "kb" / "documents.py")
    assert tried(*(f"open({str(place)!r}).read()" for place in places)) == 2 * ["PermissionError"] + ["done"]


def test_no_other_process_can_be_looked_into_or_ended():
    found = tried("open(f'/proc/{os.getppid()}/environ', 'rb').read()", "os.kill(os.getppid(), 15)")
    assert found == 2 * ["PermissionError"]


def test_no_program_can_be_started_unless_ocr_needs_one():
    start = "import subprocess; subprocess.run(['/bin/true'], check=True)"
    assert tried(start, "os.fork()") == 2 * ["PermissionError"]
    assert tried(start, programs=True) == ["done"]


def test_a_program_that_is_started_has_the_same_locks(tmp_path):
    touch = f"import subprocess; subprocess.run(['/bin/touch', {str(tmp_path / 'new')!r}], check=True, stderr=-3)"
    assert tried(touch, programs=True) == ["CalledProcessError"]
    assert not (tmp_path / "new").exists()


def test_the_process_cannot_leave_the_group_that_is_ended_with_it():
    assert tried("os.setsid()", "os.setpgid(0, 0)", programs=True) == 2 * ["PermissionError"]


def test_four_gigabytes_cannot_be_had():
    assert tried("bytearray(4 * 2**30)") == ["MemoryError"]


def test_an_endless_loop_is_ended_by_the_system():
    assert run_locked("while True: pass").returncode == -signal.SIGXCPU


def test_the_calls_of_another_kind_of_machine_are_no_way_round():
    x32_socket = 0x40000000 | 41
    assert run_locked(f"print(ctypes.CDLL(None).syscall({x32_socket}, 2, 1, 0))").stdout.strip() == "-1"


def test_without_seccomp_a_namespace_without_network_takes_its_place_or_the_lack_is_said():
    code = "print(json.dumps([os.readlink('/proc/self/ns/net'), missing]))"
    namespace, missing = json.loads(run_locked(code, before="platform.machine = lambda: 'unheard of'").stdout)
    assert (namespace != str(Path("/proc/self/ns/net").readlink())) is (missing == [])


def test_what_a_system_does_not_offer_is_said():
    code = "print(json.dumps(missing))"
    assert json.loads(run_locked(code, before="sys.platform = 'darwin'").stdout) == [
        "This system offers no lock against network and files to the process that read it."
    ]
