"""What races say in German, as they are begun and as they are watched."""

from collections.abc import Mapping

GERMAN: Mapping[str, str] = {
    "A race takes two": "Zu einem Rennen gehören zwei",
    "{arm} against {base}": "{arm} gegen {base}",
    "Both pages begin at the same moment here. When they were measured they took turns, one load at a time on one bed: "
    "neither has slowed the other. Times are in ms since the page was asked for.":
        "Hier beginnen beide Seiten im selben Moment. Gemessen wurden sie abwechselnd, immer nur eine zur Zeit: Keine "
        "hat die andere gebremst. Zeiten sind in ms, seit die Seite angefragt wurde.",
    "as fast as it was": "so schnell, wie es war",
    "half as fast": "halb so schnell",
    "a fifth as fast": "ein Fünftel so schnell",
    "a twentieth as fast": "ein Zwanzigstel so schnell",
    "There are no pictures of these loads: an experiment with trace: filmstrip makes them.":
        "Von diesen Ladevorgängen gibt es keine Bilder. Ein Experiment mit trace: filmstrip macht welche.",
    "What was to be seen of each at these moments; a picture that is the same as the one before is pale. Speed Index: "
    "the mean time until the page's pixels had their last colours; visually complete: when all of them had.":
        "Was von beiden in diesen Momenten zu sehen war; ein Bild, das dem vorigen gleicht, ist blass. Speed Index: "
        "die mittlere Zeit, bis die Bildpunkte der Seite ihre endgültige Farbe hatten; visually complete: als alle sie "
        "hatten.",
    "These two differ in more than their arm, so there is no verdict. The comparison says what differs.":
        "Diese beiden unterscheiden sich nicht nur im Arm, deshalb gibt es kein Urteil. Der Vergleich sagt, worin sie "
        "sich unterscheiden.",
    "Arms were not interleaved.": "Die Arme wurden nicht abwechselnd gemessen.",
    "This run has one cell only.": "Dieser Lauf hat nur eine Zelle.",
    "No round has both yet. A pair is shown here when both its trials are finished.":
        "Noch keine Runde hat beide. Ein Paar erscheint hier, sobald beide Versuche fertig sind.",
    "Round {round}: {base} {one}, {arm} {other}.": "Runde {round}: {base} {one}, {arm} {other}.",
    "timed out": "Zeit überschritten",
    "Verdict": "Urteil",
    "Not compared: {why}.": "Nicht verglichen: {why}.",
    "One": "Einer",
    "Against it": "Dagegen",
    "Round": "Runde",
    "the latest": "die letzte",
    "The pair": "Das Paar",
    "Round {n}": "Runde {n}",
    "Play": "Abspielen",
    "Pause": "Pause",
    "Moment": "Zeitpunkt",
    "Speed": "Tempo",
    "Replay": "Wiedergabe",
    "loading": "lädt",
    "trial {n}": "Versuch {n}",
    "change": "Änderung",
    "All rounds": "Alle Runden",
    "Two arms over one link. Their loads take turns on one bed, and each pair is played on one clock.":
        "Zwei Arme über eine Leitung. Geladen wird abwechselnd auf einem Prüfstand, und jedes Paar läuft auf einer "
        "Uhr.",
    "Values have their units, as in experiment files: 100ms, 1.5mbit, 2%, and a queue of 50p, 64KiB or 1bdp. Below 6 "
    "rounds a verdict is provisional.":
        "Werte haben ihre Einheiten, wie in Experimentdateien: 100ms, 1.5mbit, 2% und eine Warteschlange von 50p, "
        "64KiB oder 1bdp. Unter 6 Runden ist ein Urteil vorläufig.",
    "Races before": "Rennen bisher",
    "Begin the race": "Rennen beginnen",
    "a race takes two different arms": "zu einem Rennen gehören zwei verschiedene Arme",
    "Choose another one": "Nimm einen anderen",
    "One against the other": "Einer gegen den anderen",
    "This link may watch: whoever may run begins the races.":
        "Mit diesem Link kann man zusehen. Rennen beginnt, wer laufen lassen darf.",
}  # fmt: skip
