"""The experiment file: read strictly, resolved completely. Pure, except for reading the file itself.

keys        the one table of all keys that are no link's and no arm's
model       what an experiment is, once read
links       grids of links, and their names
cells       which site, link and arm go together
compare     which arms are compared
claims      published statements that can be checked, in the claim_ files
figures     what the charts show
read        from a file to an Experiment
schedule    which trial comes next
"""
