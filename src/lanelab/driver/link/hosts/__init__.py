"""What the hosts' own TCP does on a link.

setting      the two kinds of settings: those of a route, and those of a kernel
host         all of them, as fields of a host. To add one, add its field there: nothing else knows their names
"""
