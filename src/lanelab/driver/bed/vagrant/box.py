"""The box: a Debian with everything that the roles install, made on this machine from the distribution's packages.

An installation takes many minutes in an emulated processor, so it happens here, once. All names of packages come from
playbooks/vars/packages.yml: the box has the programs of client, router and server, so that any machine can be any of
them, and those for the purpose `guest`.
"""

import json
import os
from dataclasses import dataclass
from pathlib import Path

from lanelab.driver.base.paths import build_folder
from lanelab.driver.base.programs import needs
from lanelab.driver.base.programs.apt_settings import settings_for_downloads
from lanelab.driver.base.programs.building.single_build import Log, key_of, made_once, remove
from lanelab.driver.base.programs.find_program import search_path

NAME = "lanelab/debian-12"
FAMILY, SUITE, MACHINE = "debian-12", "bookworm", "x86_64"
EPOCH_S = "1700000000"  # no file of the box is younger: the same packages make the same files
ABOUT_S = 240
KEY_FILE = "made-from"  # in the box, so that Vagrant's copy tells which box it is

GUEST = Path(__file__).parent / "guest"
CUSTOMIZE, PACK = GUEST / "customize", GUEST / "pack"
# All that the initial file system needs to find the disk; with every module it is six times as large.
BOOT_MODULES = ("virtio_pci", "virtio_blk", "ext4", "crc32c_generic")
# Nobody reads manuals in a box, and no virtual machine here has a graphics card, a camera or a sound card.
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
    """A box that was made here: Vagrant's file, and the kernel with its initial file system beside it."""

    folder: Path

    @property
    def file(self) -> Path:
        return self.folder / "lanelab.box"

    @property
    def key(self) -> str:
        return (self.folder / KEY_FILE).read_text().strip()

    def versions(self) -> dict[str, str]:
        """Return every package in it."""
        return dict(line.split() for line in (self.folder / "packages.txt").read_text().splitlines())


def box_packages() -> list[str]:
    """Every package that the box is asked to have, by the names of its distribution."""
    wanted = [*needs.programs("guest"), *needs.programs_on("client", "router", "server", "controller")]
    return needs.packages([each for each in wanted if MACHINE in (each.machines or (MACHINE,))], FAMILY)


def make_box(*, mirror: str | None = None, again: bool = False) -> Box:
    """Return the box, made now where it has not been made before, or `again`: with the newest packages."""
    key = _wanted_key()

    def make(folder: Path, log: Log) -> None:
        # Two boxes of the same recipe may have other versions of packages: the random part tells them apart.
        (folder / KEY_FILE).write_text(f"{key}-{os.urandom(4).hex()}\n")
        about = {"provider": "libvirt", "format": "qcow2", "virtual_size": 6}
        (folder / "metadata.json").write_text(json.dumps(about))
        times = {"SOURCE_DATE_EPOCH": EPOCH_S, "E2FSPROGS_FAKE_TIME": EPOCH_S}
        environment = {**os.environ, **times, "PATH": search_path(), "LC_ALL": "C.UTF-8"}
        log.run(bootstrap(folder / "system.tar", mirror), environment=environment, folder=folder)
        log.run(["fakeroot", "--", "sh", PACK], environment=environment, folder=folder)

    if again:
        remove(_folder() / key)
    return Box(made_once("making the box", _folder(), key, make, about_s=ABOUT_S))


def already_made() -> Box | None:
    """Return the box, where it has been made."""
    box = Box(_folder() / _wanted_key())
    return box if box.file.exists() else None


def _wanted_key() -> str:
    """Return a name for what a box is made from now."""
    return key_of(*box_packages(), *(source.read_bytes() for source in (CUSTOMIZE, PACK, Path(__file__))))


def key_in_vagrant() -> str:
    """The key of the box that Vagrant has under our name; empty where it has none."""
    home = Path(os.environ.get("VAGRANT_HOME") or Path.home() / ".vagrant.d")
    files = (home / "boxes" / NAME.replace("/", "-VAGRANTSLASH-")).glob(f"*/**/{KEY_FILE}")
    return next((file.read_text().strip() for file in files), "")


def _folder() -> Path:
    return build_folder() / "vm" / "box"


def bootstrap(system: Path, mirror: str | None) -> list[str]:
    """Return the command that installs the packages into a tar file. As root or as an ordinary user: mmdebstrap
    chooses."""
    modules = "\\n".join(BOOT_MODULES)
    prepare_initrd = (
        'mkdir -p "$1/etc/initramfs-tools/conf.d"; echo MODULES=list >"$1/etc/initramfs-tools/conf.d/lanelab"; '
        f'printf "{modules}\\n" >"$1/etc/initramfs-tools/modules"'
    )
    return [
        "mmdebstrap", "--variant=minbase", "--format=tar", "--components=main",
        f"--include={','.join(box_packages())}",
        *(f"--aptopt={option}" for option in ('Acquire::Languages "none"', *settings_for_downloads())),
        *(f"--dpkgopt=path-exclude={path}" for path in LEFT_OUT),
        f"--essential-hook={prepare_initrd}",
        f"--customize-hook={CUSTOMIZE.read_text()}",
        SUITE, str(system), *([mirror] if mirror else []),
    ]  # fmt: skip
