"""What a process gives up before it reads a document that may be hostile.

The operating system enforces the limits and the locks, not Python:

- resource limits (every Unix): memory, processor time, no file longer than 0 bytes, few open files, no core dump.
- seccomp (Linux on x86-64 and ARM64, containers included): no sockets of any kind; no access to other processes; no way
  out of the process group that is killed at the end; no new program unless one is asked for.
- Landlock (Linux 5.13 and later): only the files of Python, the libraries and OCR are readable, none is writable; since
  6.7 no TCP, since 6.12 no signal to a process outside.
- a network namespace (Linux), where seccomp is not available.

What a system does not offer is named. macOS offers only the resource limits, without the one on memory.
"""

import ctypes
import os
import platform
import resource
import struct
import sys
from collections.abc import Iterable
from pathlib import Path

from kb.parsing.limits import ParsingLimits

_OPEN_FILES = 64

_NO_NEW_PRIVILEGES, _SET_SECCOMP, _DIE_WITH_PARENT = 38, 22, 1
_SIGKILL = 9
_FILTER_MODE = 2
_ALLOW, _FORBID, _KILL = 0x7FFF0000, 0x00050001, 0x80000000  # forbidden: the call fails with EPERM
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_X32 = 0x40000000  # the second set of numbers of the same calls on x86-64

_ALWAYS = "socket io_uring_setup ptrace process_vm_readv process_vm_writev pidfd_getfd setsid setpgid unshare setns"
_PROGRAMS = "fork vfork clone clone3 execve execveat"
_CALLS: dict[str, tuple[int, dict[str, int]]] = {
    "x86_64": (
        0xC000003E,
        {
            "socket": 41,
            "clone": 56,
            "fork": 57,
            "vfork": 58,
            "execve": 59,
            "ptrace": 101,
            "setpgid": 109,
            "setsid": 112,
            "unshare": 272,
            "setns": 308,
            "process_vm_readv": 310,
            "process_vm_writev": 311,
            "execveat": 322,
            "io_uring_setup": 425,
            "clone3": 435,
            "pidfd_getfd": 438,
        },
    ),
    "aarch64": (
        0xC00000B7,
        {
            "unshare": 97,
            "ptrace": 117,
            "setpgid": 154,
            "setsid": 157,
            "socket": 198,
            "clone": 220,
            "execve": 221,
            "setns": 268,
            "process_vm_readv": 270,
            "process_vm_writev": 271,
            "execveat": 281,
            "io_uring_setup": 425,
            "clone3": 435,
            "pidfd_getfd": 438,
        },
    ),
}
"""For each machine: how the kernel calls it, and the numbers of its system calls (asm/unistd.h)."""

_NEW_USER, _NEW_NETWORK = 0x10000000, 0x40000000

# linux/landlock.h; the three calls have the same numbers on every machine
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_FOLDER = 1, 2, 4, 8
_FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
"""Landlock's version, and how many rights over files it knows."""
_READABLE = ("/usr", "/lib", "/lib64", "/bin", "/etc/ld.so.cache", "/etc/fonts", "/dev/urandom", "/opt/homebrew")


def enter(limits: ParsingLimits, *, readable: Iterable[str], programs: bool) -> list[str]:
    """Give up, for good, the rights that reading a document does not need.

    Args:
        readable: folders whose files may be read besides those of the system and of Python.
        programs: whether other programs may be started, under the same limits and locks.

    Returns:
        A sentence for each protection that this system does not give.
    """
    missing = _limit(limits)
    if sys.platform != "linux":
        return [*missing, "This system offers no lock against network and files to the process that read it."]
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_DIE_WITH_PARENT, _SIGKILL, 0, 0, 0)
    libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    if not _lock_files(libc, [*readable, *_READABLE, sys.prefix, sys.base_prefix]):
        missing.append("This system offers no lock against files (Landlock) to the process that read it.")
    if not _forbid_calls(libc, programs=programs) and libc.unshare(_NEW_USER | _NEW_NETWORK):
        missing.append("This system offers no lock against the network to the process that read it.")
    return missing


def _limit(limits: ParsingLimits) -> list[str]:
    ceilings = {
        "memory": (resource.RLIMIT_AS, limits.memory_bytes),
        "processor time": (resource.RLIMIT_CPU, limits.cpu_seconds),
        "the size of files": (resource.RLIMIT_FSIZE, 0),
        "open files": (resource.RLIMIT_NOFILE, _OPEN_FILES),
        "core dumps": (resource.RLIMIT_CORE, 0),
    }
    missing = []
    for name, (kind, most) in ceilings.items():
        hard = most + (kind == resource.RLIMIT_CPU)  # a second later: the signal of the soft limit tells the reason
        ceiling = resource.getrlimit(kind)[1]
        hard = hard if ceiling == resource.RLIM_INFINITY else min(hard, ceiling)
        try:
            resource.setrlimit(kind, (min(most, hard), hard))
        except (OSError, ValueError):
            missing.append(f"This system does not limit {name} for the process that read it.")
    return missing


def _forbid_calls(libc: ctypes.CDLL, *, programs: bool) -> bool:
    """Forbid system calls by seccomp; whether the kernel took the filter."""
    machine = platform.machine()
    if machine not in _CALLS:
        return False
    kernel_name, numbers = _CALLS[machine]
    names = _ALWAYS.split() + ([] if programs else _PROGRAMS.split())
    forbidden = [numbers[name] for name in names if name in numbers]
    steps = [
        (_LOAD, 0, 0, 4),  # the kind of machine: a call by another kind's numbers ends the process
        (_EQUAL, 1, 0, kernel_name),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, 0),  # the number of the call
        (_AT_LEAST, len(forbidden) + 1, 0, _X32),
        *((_EQUAL, len(forbidden) - place, 0, number) for place, number in enumerate(forbidden)),
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, _FORBID),
    ]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(steps), ctypes.addressof(code)))
    return bool(libc.prctl(_SET_SECCOMP, _FILTER_MODE, program, 0, 0) == 0)


def _lock_files(libc: ctypes.CDLL, readable: Iterable[str]) -> bool:
    """Deny this process all files except the readable ones, by Landlock; whether the kernel did so."""
    version = libc.syscall(_CREATE_RULESET, None, 0, 1)
    if version < 1:
        return False
    rights = (1 << _FILE_RIGHTS.get(version, max(_FILE_RIGHTS.values()))) - 1
    fields = [rights, *([3] if version >= 4 else []), *([3] if version >= 6 else [])]  # TCP; signals, abstract sockets
    rules = struct.pack(f"{len(fields)}Q", *fields)
    ruleset = libc.syscall(_CREATE_RULESET, rules, ctypes.c_size_t(len(rules)), 0)
    if ruleset < 0:
        return False
    for path in dict.fromkeys(readable):
        _open_path(libc, ruleset, path, _EXECUTE | _READ_FILE | _READ_FOLDER)
    _open_path(libc, ruleset, os.devnull, _READ_FILE | _WRITE_FILE)
    locked = bool(libc.syscall(_RESTRICT_SELF, ruleset, 0) == 0)
    os.close(ruleset)
    return locked


def _open_path(libc: ctypes.CDLL, ruleset: int, path: str, rights: int) -> None:
    if not Path(path).exists():
        return
    if not Path(path).is_dir():
        rights &= ~_READ_FOLDER
    place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    libc.syscall(_ADD_RULE, ruleset, 1, struct.pack("=Qi", rights, place), 0)
    os.close(place)
