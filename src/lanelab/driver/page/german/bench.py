"""What the link bench says in German, and the process that measures for it."""

from collections.abc import Mapping

GERMAN: Mapping[str, str] = {
    "Link bench": "Leitungs-Werkbank",
    "One link, as one likes": "Eine Leitung, wie man sie will",
    "What a link asks at least, what a plan expects, and what is measured.":
        "Was eine Leitung mindestens verlangt, was ein Plan erwartet und was gemessen wird.",
    "Dashed: what the link asks at least, since no load can be faster over it. In full: what a plan expects, from "
    "round trips, rates and losses; it knows nothing of queues. Dots: medians of what was measured, with their "
    "intervals.":
        "Gestrichelt: was die Leitung mindestens verlangt, denn schneller geht es über sie nicht. Durchgezogen: was "
        "ein Plan erwartet, aus Umlaufzeiten, Raten und Verlusten; von Warteschlangen weiß er nichts. Punkte: Mediane "
        "des Gemessenen mit ihren Intervallen.",
    "The least is of the bytes that {arm} had in its latest load.":
        "Das Mindeste von {arm} gilt für die Bytes des letzten Ladevorgangs.",
    "The least of {arm} is of an empty page: what its bytes ask for is known when it has been loaded.":
        "Das Mindeste von {arm} gilt für eine leere Seite: Was ihre Bytes verlangen, weiß man, wenn sie geladen wurde.",
    "A bed is kept, with the links that were tested on it: going back to one of these costs nothing.":
        "Ein Prüfstand bleibt stehen, mit den Leitungen, die darauf geprüft sind: Zu einer davon zurückzugehen kostet "
        "nichts.",
    "There is no bed now. The first measurement makes one, which takes some seconds.":
        "Zurzeit gibt es keinen Prüfstand. Die erste Messung baut einen auf, was einige Sekunden dauert.",
    "Load times along {dial}, {least} to {most} {unit}.": "Ladezeiten entlang {dial}, {least} bis {most} {unit}.",
    "Along: {dial}": "Entlang: {dial}",
    "Curve along": "Kurve entlang",
    "Round trip": "Umlaufzeit",
    "Rate down": "Rate abwärts",
    "Rate up": "Rate aufwärts",
    "Loss": "Verlust",
    "Queue": "Warteschlange",
    "packets": "Pakete",
    "{dial}, slider": "{dial}, Schieberegler",
    "Site": "Website",
    "Arm": "Arm",
    "Another arm": "Noch ein Arm",
    "none": "keiner",
    "Rounds": "Runden",
    "Measure here": "Hier messen",
    "The measurement has failed.": "Die Messung ist fehlgeschlagen.",
    "a measurement is under way": "eine Messung läuft schon",
    "Wait until it has ended: there is one bed": "Warte, bis sie zu Ende ist: Es gibt nur einen Prüfstand",
    "nothing is written there": "da steht nichts",
    "Write a time like 100ms, or 0ms": "Schreib eine Zeit wie 100ms, oder 0ms",
    "there is no arm {name!r}": "einen Arm {name!r} gibt es nicht",
    "Choose one of the list": "Nimm einen aus der Liste",
    "Write it in {unit}": "Schreib es in {unit}",
    "the link asks at least": "die Leitung verlangt mindestens",
    "a plan expects": "ein Plan erwartet",
    "measured here": "hier gemessen",
    "not yet": "noch nicht",
    "Let the two race at this setting": "Die beiden mit dieser Einstellung gegeneinander laufen lassen",
    "{median} ms, n = {n}": "{median} ms, n = {n}",
    "{median} ms ({low} to {high}), n = {n}": "{median} ms ({low} bis {high}), n = {n}",
    "Measured over {link}: {loads}.": "Gemessen über {link}: {loads}.",
    "no load that counts": "kein Ladevorgang, der zählt",
    "self-test": "Selbsttest",
    "measured": "gemessen",
    "not passed": "nicht bestanden",
    "passed in {n} s": "bestanden in {n} s",
    "Links that were tested": "Geprüfte Leitungen",
    "Server and browser are being started.": "Server und Browser werden gestartet.",
    "The bed is being made.": "Der Prüfstand wird aufgebaut.",
    "The link is measured before anything is loaded over it, which takes 3 to 5 s.":
        "Die Leitung wird gemessen, bevor etwas über sie geladen wird; das dauert 3 bis 5 s.",
    "The link is measured again, now that loads went over it.":
        "Die Leitung wird noch einmal gemessen, nachdem über sie geladen wurde.",
    "The measuring process has ended; the terminal of the server may say why. The next measurement begins another.":
        "Der messende Prozess ist zu Ende; warum, steht vielleicht im Terminal des Servers. Die nächste Messung "
        "beginnt einen neuen.",
    "The link is not what was asked for, so nothing was loaded over it: {why}. Measure again, best when this machine "
    "is less busy.":
        "Die Leitung ist nicht, was verlangt war, deshalb wurde nichts über sie geladen: {why}. Miss noch einmal, am "
        "besten, wenn dieser Rechner weniger zu tun hat.",
    "Round {round}: {arm} is loading.": "Runde {round}: {arm} lädt.",
    "Round {round}: {arm} took {ms} ms.": "Runde {round}: {arm} brauchte {ms} ms.",
}  # fmt: skip
