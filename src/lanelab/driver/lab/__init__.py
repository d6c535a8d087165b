"""Labs: a text that students read, predictions that are fixed before a run, and what the run says of them.

description   what a lab asks, and by what of its run an answer is judged: docs/labs/NAME.yaml
text          what a lab says: NAME.md, and its translations
answers       what a student wrote, as a number or a direction, and the claim that it makes
sheet         answers with their time and digest, which the run's experiment has in it
folder        where a student's lab is
judging       a sheet and a run: whether they belong together, and the verdicts
class_sheet   the labs of a class side by side
"""
