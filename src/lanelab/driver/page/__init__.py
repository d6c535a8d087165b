"""The page: runs in a browser, read with the library and shown with the parts of reports.

access      who may see what: tokens, cookies, hosts, origins
documents   a whole page around what is shown, without anything inline
shelf       the runs in a folder, read again when they have changed
library, run_view, trial_view, comparison_view     what is shown
bench_…     the link bench: its process, its numbers, its drawing, its page
choices     sites, links and arms in a form, and the experiment file that it makes
changes     news of a run, as it is stored
app, server, export     all of it at addresses; on a port; as plain files
"""
