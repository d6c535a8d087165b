"""lanelab-system.deb: a package of the distribution that depends on every program that lanelab calls.

`./lanelab system-package` builds two packages: lanelab-system (beds, and pages loaded by Chromium from Apache) and
lanelab-system-servers (the other servers, Firefox, load generators). All names come from playbooks/vars/packages.yml.
"""
