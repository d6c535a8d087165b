"""How lanelab calls Ansible."""

from lanelab.driver.base.paths import build_folder
from lanelab.driver.base.programs.needs import PLAYBOOKS


def ansible_settings() -> dict[str, str]:
    """Return the environment that Ansible needs to behave the same everywhere, and to leave no files behind."""
    home = build_folder() / "ansible"
    (home / "tmp").mkdir(parents=True, exist_ok=True)  # made by us: under sudo it would become root's
    return {
        "ANSIBLE_CONFIG": str(PLAYBOOKS / "ansible.cfg"),
        "ANSIBLE_HOME": str(home),
        "ANSIBLE_NOCOLOR": "1",
        "LC_ALL": "C.UTF-8",  # Ansible refuses any locale that is not UTF-8
        "PYTHONDONTWRITEBYTECODE": "1",  # under sudo: leave no files of root's in the user's environment
    }
