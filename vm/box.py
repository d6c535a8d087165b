"""The box: a Debian with everything that the roles install, made on this machine from the distribution's packages.

In an emulated processor an installation takes many minutes, so it is done here, once. Names of packages come from
playbooks/vars/packages.yml alone: the box has the programs of client, router and server, so that any machine may be any
of them, and those for the purpose `guest`.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import tarfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from driver.host import needs
from driver.host.build.once import Log, key_of, made_once, remove
from driver.host.find_program import search_path
from model.paths import build_folder
from vm import image, login_key

NAME = "lanelab/debian-12"
FAMILY, SUITE, MACHINE = "debian-12", "bookworm", "x86_64"
EPOCH_S = 1_700_000_000  # no file of the box is younger: the same packages make the same files
ABOUT_S = 240
KEY_FILE = "made-from"  # in the box, so that Vagrant's copy tells what it is

CUSTOMIZE = Path(__file__).parent / "guest" / "customize"
# What the initial file system needs to find the disk, in QEMU and elsewhere; with all modules it is six times as large.
BOOT_MODULES = ("virtio_pci", "virtio_blk", "virtio_scsi", "ahci", "ata_piix", "sd_mod", "ext4", "crc32c_generic")
# No one reads manuals in a box, and no emulated machine has a graphics card, a camera or a sound card.
LEFT_OUT = (
    "/usr/share/doc/*", "/usr/share/man/*", "/usr/share/locale/*", "/usr/share/info/*",
    *(f"/lib/modules/*/kernel/{part}/*" for part in (
        "sound", "drivers/gpu", "drivers/media", "drivers/infiniband", "drivers/staging", "drivers/iio", "drivers/isdn",
        "drivers/net/wireless", "drivers/net/ethernet/mellanox", "drivers/scsi/qla2xxx", "drivers/usb", "drivers/input",
        "fs/xfs", "fs/btrfs", "fs/ocfs2", "fs/gfs2", "fs/nfsd", "fs/nfs", "fs/ceph", "fs/smb",
    )),
)  # fmt: skip


@dataclass(frozen=True)
class Box:
    """A box that was made here."""

    folder: Path

    @property
    def file(self) -> Path:
        return self.folder / "lanelab.box"

    @property
    def key(self) -> str:
        return (self.folder / KEY_FILE).read_text().strip()

    @property
    def kernel(self) -> Path:
        return self.folder / "vmlinuz"

    def versions(self) -> dict[str, str]:
        """Every package in it."""
        return dict(line.split() for line in (self.folder / "packages.txt").read_text().splitlines())


def box_packages() -> list[str]:
    """Every package that the box is asked to have, by the names of its distribution."""
    wanted = [*needs.programs("guest"), *needs.programs_on("client", "router", "server", "controller")]
    return needs.packages([each for each in wanted if MACHINE in (each.machines or (MACHINE,))], FAMILY)


def make_box(*, mirror: str | None = None, again: bool = False) -> Box:
    """The box, made now where it has not been made before, or `again`: with the newest packages."""
    key = wanted_key()
    if again:
        remove(_folder() / key)
    return Box(made_once("making the box", _folder(), key, _maker(key, mirror), about_s=ABOUT_S))


def wanted_key() -> str:
    """A name for what a box is made from now."""
    sources = (CUSTOMIZE, Path(__file__), Path(image.__file__))
    return key_of(login_key.public_key(), *box_packages(), *(source.read_bytes() for source in sources))


def is_made() -> bool:
    return Box(_folder() / wanted_key()).file.exists()


def key_in_vagrant() -> str:
    """What the box was made from that Vagrant has under our name; empty where it has none."""
    files = (login_key.vagrant_home() / "boxes" / NAME.replace("/", "-VAGRANTSLASH-")).glob(f"*/**/{KEY_FILE}")
    return next((file.read_text().strip() for file in files), "")


def newest() -> Box | None:
    """The box that was made last, if any was."""
    folder = _folder()
    made = [path for path in folder.glob("*/lanelab.box") if path.parent.suffix == ""] if folder.is_dir() else []
    return Box(max(made, key=lambda file: file.stat().st_mtime).parent) if made else None


def _folder() -> Path:
    return build_folder() / "vm" / "box"


def _maker(key: str, mirror: str | None) -> Callable[[Path, Log], None]:
    def make(folder: Path, log: Log) -> None:
        system = folder / "system.tar"
        # Two boxes of the same recipe may have other versions of packages: Vagrant's copy has to tell them apart.
        (folder / KEY_FILE).write_text(f"{key}-{os.urandom(4).hex()}\n")
        environment = {**os.environ, "PATH": search_path(), "SOURCE_DATE_EPOCH": str(EPOCH_S), "LC_ALL": "C.UTF-8"}
        environment["LOGIN_KEY"] = login_key.public_key()
        log.run(bootstrap(system, mirror), environment=environment, folder=folder)
        (folder / "packages.txt").write_text(_installed(system))
        disk = image.make_disk(system, folder, log, epoch_s=EPOCH_S)
        system.unlink()
        (folder / "initrd.img").unlink()
        _pack(folder, disk)
        disk.unlink()

    return make


def bootstrap(system: Path, mirror: str | None) -> list[str]:
    """The command that installs the packages into a tar file. As root or as an ordinary user: mmdebstrap chooses."""
    modules = "\\n".join(BOOT_MODULES)
    prepare_initrd = (
        'mkdir -p "$1/etc/initramfs-tools/conf.d"; echo MODULES=list >"$1/etc/initramfs-tools/conf.d/lanelab"; '
        f'printf "{modules}\\n" >"$1/etc/initramfs-tools/modules"'
    )
    return [
        "mmdebstrap", "--variant=minbase", "--format=tar", "--components=main",
        f"--include={','.join(box_packages())}",
        *(f"--aptopt={option}" for option in ('Acquire::Languages "none"', *_settings_for_downloads())),
        *(f"--dpkgopt=path-exclude={path}" for path in LEFT_OUT),
        f"--essential-hook={prepare_initrd}",
        f"--customize-hook={CUSTOMIZE.read_text()}",
        SUITE, str(system), *([mirror] if mirror else []),
    ]  # fmt: skip


def _settings_for_downloads() -> list[str]:
    """This machine's proxies and the like: behind them the box's packages come the same way as its own."""
    try:
        said = subprocess.run(["apt-config", "dump", "Acquire"], capture_output=True, text=True, check=False).stdout
    except FileNotFoundError:
        return []
    return [
        line.rstrip(";")
        for line in said.splitlines()
        if line.startswith("Acquire::") and '"' in line and '""' not in line
    ]


def _installed(system: Path) -> str:
    """Names and versions, from the list that dpkg keeps."""
    with tarfile.open(system) as tar:
        member = next(each for each in tar if each.name.removeprefix("./") == "var/lib/dpkg/status")
        content = tar.extractfile(member)
        status = content.read().decode() if content else ""
    lines = []
    for paragraph in status.split("\n\n"):
        fields = dict(
            line.split(": ", 1) for line in paragraph.splitlines() if ": " in line and not line.startswith(" ")
        )
        if "Package" in fields:
            lines.append(f"{fields['Package']} {fields['Version']}\n")
    return "".join(sorted(lines))


def _pack(folder: Path, disk: Path) -> None:
    """A box as Vagrant has it: not compressed, since unpacking would take longer than reading."""
    about = {"provider": "libvirt", "format": "qcow2", "virtual_size": image.DISK_SIZE >> 30}
    small = {
        "metadata.json": json.dumps(about).encode(),
        KEY_FILE: (folder / KEY_FILE).read_bytes(),
    }
    with tarfile.open(folder / "lanelab.box", "w") as tar:
        for name, data in small.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mtime, entry.mode = len(data), EPOCH_S, 0o600
            tar.addfile(entry, io.BytesIO(data))
        entry = tarfile.TarInfo("box.img")
        entry.size, entry.mtime, entry.mode = disk.stat().st_size, EPOCH_S, 0o644
        with disk.open("rb") as content:
            tar.addfile(entry, content)
