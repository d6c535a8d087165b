"""lanelab-system.deb: a package of the distribution that depends on every program that lanelab calls.

    python -m tools.system_package [--family debian-12]… [--machine x86_64]… [--to dist]

makes two packages for each family: lanelab-system (beds, and pages loaded by Chromium from Apache) and
lanelab-system-servers (the other servers, Firefox, load generators). All names come from playbooks/vars/packages.yml.
"""
