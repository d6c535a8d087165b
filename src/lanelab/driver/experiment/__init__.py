"""The experiment file: read strictly, resolved completely. Pure, except for reading the file itself.

source      YAML as text, lines and paths
kinds       kinds of values that only experiments have
arm_fields  the one table of what an arm says
arm         an arm
keys        the one table of all other keys
model       what an experiment is, once read
links       grids of links, and their names
cells       which site, link and arm go together
figures     what the charts show
read        from a file to an Experiment
schema      the JSON schema for editors
"""
