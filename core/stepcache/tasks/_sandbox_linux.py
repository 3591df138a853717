"""What the Linux kernel can deny a sandboxed process for good. Loaded by `_sandbox_child` alone.

Each function returns whether the kernel agreed. A container may forbid it; the other limits hold all the same.
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct
import sys
from collections.abc import Sequence

_CLONE_NEWNET = 0x40000000
_CLONE_NEWUSER = 0x10000000
_PR_SET_PDEATHSIG, _PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _FILTER = 1, 38, 22, 2
_KILL_SIGNAL = 9

# landlock(7): system calls (one number on all architectures) and rights. What is handled is denied but where allowed.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF, _VERSION, _PATH_BENEATH = 444, 445, 446, 1, 1
_ALL_RIGHTS, _READ_FILE, _READ_FOLDER = 0x1FFF, 1 << 2, 1 << 3  # of the first version
_SCOPED_SINCE, _NO_SIGNALS_NO_SOCKETS = 6, 0b11
# Where shared libraries lie that Python's own modules are linked with.
_LIBRARIES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/nix/store", "/etc/ld.so.cache")

# seccomp(2) and linux/filter.h: classic BPF, one 8-byte instruction each
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL_PROCESS = 0x7FFF0000, 0x80000000
_NUMBER_AT, _ARCH_AT, _ARGUMENTS_AT = 0, 4, 16
_X32_BIT = 0x40000000
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC

# System calls that fork, run programs, reach other processes or the network, or change files, modes or the system:
# name -> numbers on (x86-64, aarch64); None where the architecture has no such call.
_FORBIDDEN: dict[str, tuple[int | None, int | None]] = {
    "socket": (41, 198), "connect": (42, 203), "accept": (43, 202), "accept4": (288, 242),
    "bind": (49, 200), "listen": (50, 201), "sendto": (44, 206), "sendmsg": (46, 211), "sendmmsg": (307, 269),
    "fork": (57, None), "vfork": (58, None), "clone": (56, 220), "clone3": (435, 435), "execve": (59, 221),
    "execveat": (322, 281), "kill": (62, 129), "tkill": (200, 130), "tgkill": (234, 131), "pidfd_open": (434, 434),
    "rt_sigqueueinfo": (129, 138), "rt_tgsigqueueinfo": (297, 240), "setpriority": (141, 140),
    "sched_setaffinity": (203, 122), "sched_setscheduler": (144, 119), "sched_setparam": (142, 118),
    "sched_setattr": (314, 274), "ioprio_set": (251, 30), "process_madvise": (440, 440), "migrate_pages": (256, 238),
    "move_pages": (279, 239), "kcmp": (312, 272), "sync": (162, 81), "syncfs": (306, 267),
    "pidfd_send_signal": (424, 424), "pidfd_getfd": (438, 438), "ptrace": (101, 117), "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271), "creat": (85, None), "openat2": (437, 437), "open_by_handle_at": (304, 265),
    "name_to_handle_at": (303, 264), "memfd_create": (319, 279), "memfd_secret": (447, 447), "truncate": (76, 45),
    "ftruncate": (77, 46), "fallocate": (285, 47), "mkdir": (83, None), "mkdirat": (258, 34), "rmdir": (84, None),
    "rename": (82, None), "renameat": (264, 38), "renameat2": (316, 276), "link": (86, None), "linkat": (265, 37),
    "symlink": (88, None), "symlinkat": (266, 36), "unlink": (87, None), "unlinkat": (263, 35), "mknod": (133, None),
    "mknodat": (259, 33), "chmod": (90, None), "fchmod": (91, 52), "fchmodat": (268, 53), "chown": (92, None),
    "fchown": (93, 55), "lchown": (94, None), "fchownat": (260, 54), "setxattr": (188, 5), "lsetxattr": (189, 6),
    "fsetxattr": (190, 7), "removexattr": (197, 14), "lremovexattr": (198, 15), "fremovexattr": (199, 16),
    "utime": (132, None), "utimes": (235, None), "utimensat": (280, 88), "futimesat": (261, None),
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51), "move_mount": (429, 429),
    "open_tree": (428, 428), "fsopen": (430, 430), "fsconfig": (431, 431), "fsmount": (432, 432),
    "fspick": (433, 433), "mount_setattr": (442, 442), "unshare": (272, 97), "setns": (308, 268), "bpf": (321, 280),
    "perf_event_open": (298, 241), "userfaultfd": (323, 282), "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426), "io_uring_register": (427, 427), "add_key": (248, 217), "request_key": (249, 218),
    "keyctl": (250, 219), "init_module": (175, 105), "finit_module": (313, 273), "delete_module": (176, 106),
    "kexec_load": (246, 104), "kexec_file_load": (320, 294), "reboot": (169, 142), "swapon": (167, 224),
    "swapoff": (168, 225), "setuid": (105, 146), "setgid": (106, 144), "setresuid": (117, 147),
    "setresgid": (119, 149), "setreuid": (113, 145), "setregid": (114, 143), "sethostname": (170, 161),
    "setdomainname": (171, 162), "settimeofday": (164, 170), "clock_settime": (227, 112), "shmget": (29, 194),
    "msgget": (68, 186), "semget": (64, 190), "mq_open": (240, 180), "fanotify_init": (300, 262),
    "inotify_init": (253, None), "inotify_init1": (294, 26), "quotactl": (179, 60), "acct": (163, 89),
    "syslog": (103, 116),
}  # fmt: skip
# Calls forbidden by one argument: (number, index of the argument, bits of which none may be set), by architecture:
# open and openat for writing, prlimit64 for another process.
_BY_ARGUMENT = (
    ((2, 1, _WRITING), (257, 2, _WRITING), (302, 0, 0xFFFFFFFF)), ((56, 2, _WRITING), (261, 0, 0xFFFFFFFF)),
)  # fmt: skip
_ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}  # column above, AUDIT_ARCH_*


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def die_with_parent() -> bool:
    """Be killed when the thread that started this process ends."""
    return bool(ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, _KILL_SIGNAL, 0, 0, 0) == 0)


def wall_off_files(roots: Sequence[str]) -> bool:
    """Have the kernel deny opening any file but those under `roots`, of this Python, and of the system's libraries."""
    library = ctypes.CDLL(None, use_errno=True)
    version = library.syscall(_CREATE_RULESET, None, 0, _VERSION)
    if version < 1 or library.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        return False
    handled = struct.pack("=QQQ", _ALL_RIGHTS, 0, _NO_SIGNALS_NO_SOCKETS)
    ruleset = library.syscall(_CREATE_RULESET, handled, len(handled) if version >= _SCOPED_SINCE else 8, 0)
    if ruleset < 0:
        return False
    for path in (*roots, os.path.join(sys.base_prefix, "lib"), *_LIBRARIES):
        try:
            opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            continue  # not on this system
        rights = _READ_FILE | _READ_FOLDER if os.path.isdir(path) else _READ_FILE
        library.syscall(_ADD_RULE, ruleset, _PATH_BENEATH, struct.pack("=Qi", rights, opened), 0)
        os.close(opened)
    restricted = bool(library.syscall(_RESTRICT_SELF, ruleset, 0) == 0)
    os.close(ruleset)
    return restricted


def leave_network() -> bool:
    """Move into a new network namespace, which has no way out; unprivileged users need a user namespace for it."""
    library = ctypes.CDLL(None, use_errno=True)
    if library.unshare(_CLONE_NEWNET) == 0:
        return True
    return bool(library.unshare(_CLONE_NEWUSER | _CLONE_NEWNET) == 0)


def filter_system_calls() -> bool:
    """Have the kernel end the process at a call that forks, runs programs, connects, or changes files."""
    known = _ARCHITECTURES.get(platform.machine())
    if known is None or struct.calcsize("P") != 8:
        return False
    column, architecture = known
    forbidden = [numbers[column] for numbers in _FORBIDDEN.values()]
    code = _assemble(architecture, [number for number in forbidden if number is not None], _BY_ARGUMENT[column])
    program = _Program(len(code) // 8, code)
    library = ctypes.CDLL(None, use_errno=True)
    if library.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        return False
    return bool(library.prctl(_PR_SET_SECCOMP, _FILTER, ctypes.byref(program), 0, 0) == 0)


def _assemble(architecture: int, forbidden: list[int], by_argument: tuple[tuple[int, int, int], ...]) -> bytes:
    def step(operation: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
        return struct.pack("=HBBI", operation, if_true, if_false, value)

    kill = step(_RETURN, _KILL_PROCESS)
    code = [step(_LOAD, _ARCH_AT), step(_EQUAL, architecture, 1, 0), kill, step(_LOAD, _NUMBER_AT)]
    code += [step(_AT_LEAST, _X32_BIT, 0, 1), kill]  # the x32 numbers of x86-64 would go round the list
    for number in forbidden:
        code += [step(_EQUAL, number, 0, 1), kill]
    for number, index, bits in by_argument:
        code += [
            step(_EQUAL, number, 0, 4),
            step(_LOAD, _ARGUMENTS_AT + 8 * index),
            step(_ANY_BIT, bits, 0, 1),
            kill,
            step(_RETURN, _ALLOW),
        ]
    return b"".join([*code, step(_RETURN, _ALLOW)])
