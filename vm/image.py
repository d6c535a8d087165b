"""From the files of a Debian system to a disk that a machine can boot from, without root and without loop devices.

    sector 0          the boot code, and a table of two partitions
    1 MiB             FAT: syslinux, the kernel, its initial file system
    49 MiB            ext4: the system

Neither file system is ever mounted here: mke2fs fills the one, mcopy the other, and fakeroot keeps the files' owners.
"""

from __future__ import annotations

import os
import shutil
import struct
from collections.abc import Mapping
from pathlib import Path

from driver.host.build.once import Log, remove
from driver.host.find_program import search_path

SECTOR = 512
MIB = 1 << 20
BOOT_AT, BOOT_SIZE = 1 * MIB, 48 * MIB
ROOT_AT = BOOT_AT + BOOT_SIZE
DISK_SIZE = 6 << 30  # what is not used of it takes no room
ROOT_LABEL = "lanelab-root"
ROOT_UUID = "6c616e65-6c61-4262-8f78-000000000001"
FAT16_LBA, LINUX = 0x0E, 0x83
TABLE_AT = 446
BOOT_CODE = Path("/usr/lib/SYSLINUX/mbr.bin"), Path("/usr/lib/syslinux/mbr/mbr.bin")

# Interfaces are eth0, eth1, …; the serial port shows a boot that fails.
KERNEL_LINE = f"root=LABEL={ROOT_LABEL} ro net.ifnames=0 console=tty0 console=ttyS0,115200 quiet"
BOOT_MENU = f"DEFAULT lanelab\nPROMPT 0\nLABEL lanelab\n  KERNEL vmlinuz\n  INITRD initrd.img\n  APPEND {KERNEL_LINE}\n"

UNPACK = 'mkdir tree && tar --extract --file="$1" --directory=tree --same-owner --same-permissions'
FILL = 'mke2fs -q -t ext4 -d tree -L "$2" -U "$3" -E "offset=$4,hash_seed=$3,root_owner=0:0" -m 1 -b 4096 disk "$5"'
AS_ROOTS_OWN = f"set -eu; {UNPACK}; {FILL}"


def make_disk(system: Path, folder: Path, log: Log, *, epoch_s: int) -> Path:
    """A qcow2 disk in `folder` of the system in a tar file. The kernel and its initial file system lie beside it."""
    environment = {
        **os.environ, "PATH": search_path(), "SOURCE_DATE_EPOCH": str(epoch_s), "E2FSPROGS_FAKE_TIME": str(epoch_s),
        "MTOOLS_SKIP_CHECK": "1", "LC_ALL": "C.UTF-8", "TZ": "UTC",
    }  # fmt: skip
    raw = folder / "disk"
    with raw.open("wb") as disk:
        disk.truncate(DISK_SIZE)
    blocks = str((DISK_SIZE - ROOT_AT) // 4096)
    fill = ["sh", "-c", AS_ROOTS_OWN, "sh", str(system), ROOT_LABEL, ROOT_UUID, str(ROOT_AT), blocks]
    log.run(["fakeroot", "--", *fill], environment=environment, folder=folder)
    for link, name in (("vmlinuz", "vmlinuz"), ("initrd.img", "initrd.img")):
        # The links in the system's root are relative, and lead to the kernel that was installed.
        shutil.copyfile((folder / "tree" / link).resolve(), folder / name)
    remove(folder / "tree")
    _write_boot_partition(raw, folder, log, environment)
    with raw.open("r+b") as disk:
        disk.write(boot_sector(_boot_code()))
    image = folder / "box.img"
    log.run(["qemu-img", "convert", "-O", "qcow2", raw, image], environment=environment, folder=folder)
    raw.unlink()
    return image


def boot_sector(code: bytes) -> bytes:
    """The first sector of the disk: boot code, two partitions, and the mark that makes it one."""
    table = _partition(BOOT_AT, BOOT_SIZE, FAT16_LBA, active=True)
    table += _partition(ROOT_AT, DISK_SIZE - ROOT_AT, LINUX, active=False)
    return code[:TABLE_AT].ljust(TABLE_AT, b"\0") + table.ljust(64, b"\0") + b"\x55\xaa"


def _partition(start: int, size: int, kind: int, *, active: bool) -> bytes:
    beyond = b"\xfe\xff\xff"  # cylinder, head and sector are of no use to anybody; this says so
    return struct.pack(
        "<B3sB3sII", 0x80 if active else 0, beyond, kind, beyond, start // SECTOR, size // SECTOR
    )  # fmt: skip


def _boot_code() -> bytes:
    there = next((path for path in BOOT_CODE if path.exists()), None)
    if there is None:
        raise FileNotFoundError(2, "No such file or directory", str(BOOT_CODE[0]))
    return there.read_bytes()


def _write_boot_partition(raw: Path, folder: Path, log: Log, environment: Mapping[str, str]) -> None:
    fat = folder / "boot.fat"
    with fat.open("wb") as file:
        file.truncate(BOOT_SIZE)
    (folder / "syslinux.cfg").write_text(BOOT_MENU)
    hidden = str(BOOT_AT // SECTOR)
    log.run(["mkfs.vfat", "-F", "16", "--invariant", "-h", hidden, fat], environment=environment, folder=folder)
    files = [folder / name for name in ("vmlinuz", "initrd.img", "syslinux.cfg")]
    log.run(["mcopy", "-i", fat, *files, "::"], environment=environment, folder=folder)
    log.run(["syslinux", "--install", fat], environment=environment, folder=folder)
    with raw.open("r+b") as disk, fat.open("rb") as boot:
        disk.seek(BOOT_AT)
        shutil.copyfileobj(boot, disk)
    fat.unlink()
    (folder / "syslinux.cfg").unlink()
