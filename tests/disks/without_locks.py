#!/usr/bin/env python3
"""A file system like those on the network: it shows the folder BEHIND at FOLDER, has no locks (ENOLCK), and reports no changes
that are made in BEHIND. Usage: without_locks.py BEHIND FOLDER, as root. It prints `ready`, and ends when it is unmounted."""

import ctypes
import errno
import os
import struct
import sys

LOOKUP, FORGET, GETATTR, SETATTR, READLINK, SYMLINK, MKDIR, UNLINK, RMDIR, RENAME = 1, 2, 3, 4, 5, 6, 9, 10, 11, 12
OPEN, READ, WRITE, STATFS, RELEASE, FSYNC, FLUSH, INIT, OPENDIR, READDIR = 14, 15, 16, 17, 18, 20, 25, 26, 27, 28
RELEASEDIR, FSYNCDIR, GETLK, SETLK, SETLKW, CREATE, INTERRUPT, DESTROY, BATCH_FORGET, RENAME2 = (
    29, 30, 31, 32, 33, 35, 36, 38, 42, 45)
POSIX_LOCKS, FLOCK_LOCKS, BIG_WRITES = 1 << 1, 1 << 10, 1 << 5
MODE, UID, GID, SIZE, ATIME, MTIME, ATIME_NOW, MTIME_NOW = 1, 2, 4, 8, 16, 32, 128, 256


class Disk:
    def __init__(self, behind):
        self.paths = {1: behind}
        self.nodes = {behind: 1}

    def node(self, path):
        if path not in self.nodes:
            self.nodes[path] = len(self.paths) + 1
            self.paths[self.nodes[path]] = path
        return self.nodes[path]

    def attributes(self, path):
        at = os.lstat(path)
        times = (at.st_atime_ns, at.st_mtime_ns, at.st_ctime_ns)
        seconds, rest = [time // 10**9 for time in times], [time % 10**9 for time in times]
        return struct.pack("<6Q10I", at.st_ino, at.st_size, at.st_blocks, *seconds, *rest, at.st_mode, at.st_nlink,
                           at.st_uid, at.st_gid, at.st_rdev, 4096, 0)

    def entry(self, path):
        attributes = self.attributes(path)
        return struct.pack("<4Q2I", self.node(path), 0, 0, 0, 0, 0) + attributes

    def moved(self, old, new):
        for path, node in list(self.nodes.items()):
            if path == old or path.startswith(old + "/"):
                del self.nodes[path]
                path = new + path[len(old):]
                self.nodes[path], self.paths[node] = node, path

    def set_attributes(self, path, data):
        valid, _, _, size, _, atime, mtime, _, atime_ns, mtime_ns, _, mode, _, uid, gid = struct.unpack_from("<2I6Q7I", data)
        if valid & MODE:
            os.chmod(path, mode & 0o7777)
        if valid & (UID | GID):
            os.chown(path, uid if valid & UID else -1, gid if valid & GID else -1)
        if valid & SIZE:
            os.truncate(path, size)
        if valid & (ATIME | MTIME):
            now = os.lstat(path)
            atime = atime * 10**9 + atime_ns if valid & ATIME and not valid & ATIME_NOW else now.st_atime_ns
            mtime = mtime * 10**9 + mtime_ns if valid & MTIME and not valid & MTIME_NOW else now.st_mtime_ns
            os.utime(path, ns=(atime, mtime))

    def answer(self, opcode, node, data):
        path = self.paths.get(node)
        names = lambda skip: [os.fsdecode(name) for name in data[skip:].split(b"\0")]
        below = lambda name: os.path.join(path, name)
        if opcode == INIT:
            flags = POSIX_LOCKS | FLOCK_LOCKS | BIG_WRITES
            return struct.pack("<4I2H2I2H8I", 7, 31, 65536, flags, 0, 0, 65536, 1, 0, 0, *[0] * 8)
        if opcode == LOOKUP:
            return self.entry(below(names(0)[0]))
        if opcode == GETATTR:
            return struct.pack("<Q2I", 0, 0, 0) + self.attributes(path)
        if opcode == SETATTR:
            self.set_attributes(path, data)
            return struct.pack("<Q2I", 0, 0, 0) + self.attributes(path)
        if opcode == READLINK:
            return os.fsencode(os.readlink(path))
        if opcode == SYMLINK:
            name, target = names(0)[:2]
            os.symlink(target, below(name))
            return self.entry(below(name))
        if opcode == MKDIR:
            mode, _ = struct.unpack_from("<2I", data)
            os.mkdir(below(names(8)[0]), mode)
            return self.entry(below(names(8)[0]))
        if opcode in (UNLINK, RMDIR):
            gone = below(names(0)[0])
            os.unlink(gone) if opcode == UNLINK else os.rmdir(gone)
            self.nodes.pop(gone, None)
            return b""
        if opcode in (RENAME, RENAME2):
            skip = 8 if opcode == RENAME else 16
            old, new = names(skip)[:2]
            new = os.path.join(self.paths[struct.unpack_from("<Q", data)[0]], new)
            os.rename(below(old), new)
            self.moved(below(old), new)
            return b""
        if opcode in (OPEN, CREATE):
            flags, mode = struct.unpack_from("<2I", data)
            at = path if opcode == OPEN else below(names(16)[0])
            flags &= os.O_ACCMODE | os.O_TRUNC | os.O_EXCL
            opened = os.open(at, flags | (os.O_CREAT if opcode == CREATE else 0), mode)
            entry = self.entry(at) if opcode == CREATE else b""
            return entry + struct.pack("<Q2I", opened, 0, 0)
        if opcode == READ:
            opened, offset, size = struct.unpack_from("<2QI", data)
            return os.pread(opened, size, offset)
        if opcode == WRITE:
            opened, offset, size = struct.unpack_from("<2QI", data)
            return struct.pack("<2I", os.pwrite(opened, data[40:40 + size], offset), 0)
        if opcode == STATFS:
            at = os.statvfs(path)
            return struct.pack("<5Q10I", at.f_blocks, at.f_bfree, at.f_bavail, at.f_files, at.f_ffree, at.f_bsize, 255,
                               at.f_frsize, *[0] * 7)
        if opcode == RELEASE:
            os.close(struct.unpack_from("<Q", data)[0])
            return b""
        if opcode == OPENDIR:
            return struct.pack("<Q2I", 0, 0, 0)
        if opcode == READDIR:
            _, offset, size = struct.unpack_from("<2QI", data)
            listed = b""
            for at, name in enumerate(sorted(os.listdir(path)), 1):
                name = os.fsencode(name)
                one = struct.pack("<2Q2I", 1, at, len(name), 0) + name
                one += bytes(-len(one) % 8)
                if at > offset and len(listed) + len(one) <= size:
                    listed += one
                elif at > offset:
                    break
            return listed
        if opcode in (FLUSH, FSYNC, FSYNCDIR, RELEASEDIR, DESTROY):
            return b""
        if opcode in (GETLK, SETLK, SETLKW):
            raise OSError(errno.ENOLCK, "no locks")
        raise OSError(errno.ENOSYS, "not implemented")


def main():
    behind, folder = map(os.path.realpath, sys.argv[1:])
    device = os.open("/dev/fuse", os.O_RDWR)
    options = f"fd={device},rootmode=40000,user_id=0,group_id=0,allow_other,default_permissions"
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(b"without_locks", os.fsencode(folder), b"fuse", 0, options.encode()) != 0:
        sys.exit(f"mount: {os.strerror(ctypes.get_errno())}")
    disk = Disk(behind)
    os.umask(0)
    print("ready", flush=True)
    while True:
        try:
            request = os.read(device, 1 << 20)
        except OSError:
            return
        _, opcode, unique, node = struct.unpack_from("<2I2Q", request)
        if opcode in (FORGET, BATCH_FORGET, INTERRUPT):
            continue
        try:
            failure, body = 0, disk.answer(opcode, node, request[40:])
        except OSError as error:
            failure, body = error.errno, b""
        try:
            os.write(device, struct.pack("<IiQ", 16 + len(body), -failure, unique) + body)
        except OSError:
            # The request was interrupted.
            pass


main()
