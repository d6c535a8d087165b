"""The texts of the page in German, by the English ones. A test compares them with what the page says: none is missing,
none is left over, and the places for values are the same."""

from collections.abc import Mapping

GERMAN: Mapping[str, str] = {
    # every page
    "Skip to the contents": "Zum Inhalt",
    "Pages": "Seiten",
    "The server does not answer any more, or the run is gone: this page is as it was.":
        "Der Server antwortet nicht mehr, oder den Lauf gibt es nicht mehr: Diese Seite ist auf dem letzten Stand.",
    "Show": "Zeigen",
    # who comes in, and what is refused
    "Welcome": "Willkommen",
    "The runs are on the next page.": "Die Läufe stehen auf der nächsten Seite.",
    "This link holds no more": "Dieser Link gilt nicht mehr",
    "This link has been used, or the server was started again. The terminal where it runs has a new one.":
        "Dieser Link wurde schon benutzt, oder der Server wurde neu gestartet. Im Terminal, in dem er läuft, steht "
        "ein neuer.",
    "Not here": "Hier nicht",
    "This is not the name of this server. Open the address that the terminal shows.":
        "So heißt dieser Server nicht. Öffne die Adresse, die im Terminal steht.",
    "Another page asked for this.": "Eine andere Seite hat das verlangt.",
    "Open the link that the terminal shows, where lanelab serve runs.":
        "Öffne den Link aus dem Terminal, in dem lanelab serve läuft.",
    "This link may watch, and change nothing.": "Mit diesem Link kann man zusehen und nichts ändern.",
    "Nothing here": "Hier ist nichts",
    "There is no such page. It may have been a run that was moved or removed.":
        "Diese Seite gibt es nicht. Vielleicht wurde ein Lauf verschoben oder gelöscht.",
    "This cannot be shown": "Das lässt sich nicht zeigen",
    "Nothing was done": "Es ist nichts geschehen",
    "Nothing is changed by opening an address.": "Eine Adresse zu öffnen ändert nichts.",
    "This form was not taken": "Dieses Formular wurde nicht angenommen",
    'It has to have the field "{name}" once.': "Das Feld „{name}“ muss einmal darin sein.",
    "It has to be sent as {kind}.": "Es muss als {kind} gesendet werden.",
    "It did not arrive in time.": "Es kam nicht rechtzeitig an.",
    "It cannot be read.": "Es ist nicht lesbar.",
    "It has more than {n} bytes.": "Es hat mehr als {n} Byte.",
    # a run is begun, stopped, gone on with
    "Begin a run": "Einen Lauf beginnen",
    "Experiment": "Experiment",
    "Trials of each cell, instead of what it says": "Versuche je Zelle, statt wie darin steht",
    "Seed of the order": "Startwert der Reihenfolge",
    "{least} to {most}, or nothing": "{least} bis {most}, oder nichts",
    "It goes on when this page is closed, and when the server ends.":
        "Er läuft weiter, wenn diese Seite geschlossen wird und wenn der Server endet.",
    "It did not begin": "Er hat nicht begonnen",
    "It is about to begin": "Gleich beginnt er",
    "This is what it said.": "Das hat er gesagt.",
    "Programs are made ready. This page follows.": "Programme werden vorbereitet. Diese Seite folgt.",
    "It does not go on": "Er geht nicht weiter",
    "It does not stop": "Er hält nicht an",
    "Nobody stops a run like that.": "So hält niemand einen Lauf an.",
    "It stops at once.": "Er hält sofort an.",
    "What is under way is finished first.": "Was gerade läuft, wird noch beendet.",
    "The run was asked to stop": "Der Lauf soll anhalten",
    "Now": "Jetzt",
    "Go on with this run": "Mit diesem Lauf weitermachen",
    "What is stored is not measured again.": "Was gespeichert ist, wird nicht noch einmal gemessen.",
    "It goes on already.": "Er läuft schon.",
    "It has come to its end.": "Er ist am Ende.",
    "It is a figure of a study, which goes on with the others in a terminal.":
        "Er ist eine Abbildung einer Studie, die mit den anderen in einem Terminal weitergeht.",
    "It is not at its end": "Er ist nicht am Ende",
    "This run tells nothing of what it does now.": "Dieser Lauf sagt nicht, was er gerade tut.",
    "What went wrong lately": "Was zuletzt schiefging",
    "Round {round} of {rounds}": "Runde {round} von {rounds}",
    "{done} of {trials} trials": "{done} von {trials} Versuchen",
    "{n} has failed": "{n} ist gescheitert",
    "{n} have failed": "{n} sind gescheitert",
    "{n} refused with its link": "{n} mit seiner Leitung abgelehnt",
    "{n} refused with their link": "{n} mit ihrer Leitung abgelehnt",
    "ends in about {time}": "endet in etwa {time}",
    "Stop at once": "Sofort anhalten",
    "Stop after this trial": "Nach diesem Versuch anhalten",
    "It was asked to stop: what is under way is finished first.":
        "Er soll anhalten: Was gerade läuft, wird noch beendet.",
    # the library
    "Runs": "Läufe",
    "There is no run yet.": "Es gibt noch keinen Lauf.",
    "Begin a first one": "Einen ersten beginnen",
    "two links, four ways to load a page, about two minutes.":
        "zwei Leitungen, vier Arten, eine Seite zu laden, etwa zwei Minuten.",
    "the same on a command line. Its run appears here by itself.":
        "dasselbe auf einer Kommandozeile. Der Lauf erscheint hier von selbst.",
    "what a link does to a page, before and after it is measured.":
        "was eine Leitung mit einer Seite macht, vor und nach dem Messen.",
    "two protocols on one clock.": "zwei Protokolle auf einer Uhr.",
    "exercises for a class: predict, run, find out why.": "Übungen für eine Klasse: vorhersagen, messen, erklären.",
    "{n} of {all}": "{n} von {all}",
    "{n} in all": "{n} insgesamt",
    "Words in the name": "Wörter im Namen",
    "State": "Zustand",
    "any": "beliebig",
    "In order of": "Sortiert nach",
    "Compare the two that are ticked": "Die beiden angekreuzten vergleichen",
    "compare": "vergleichen",
    "compare {name}": "{name} vergleichen",
    "begun (UTC)": "begonnen (UTC)",
    "run": "Lauf",
    "of": "Experiment",
    "state": "Zustand",
    "cells": "Zellen",
    "trials": "Versuche",
    "failed": "fehlgeschlagen",
    "flagged": "auffällig",
    "claims": "Behauptungen",
    "running": "läuft",
    "finished": "fertig",
    "stopped": "angehalten",
    "killed": "abgebrochen",
    "unreadable": "nicht lesbar",
    # a run and its trials
    "Report": "Bericht",
    "Race": "Rennen",
    "The one trial": "Der eine Versuch",
    "All {n} trials": "Alle {n} Versuche",
    "The latest trials": "Die letzten Versuche",
    "Round {round}. The last trial: {cell}, {outcome}.": "Runde {round}. Der letzte Versuch: {cell}, {outcome}.",
    "On a command line": "Auf der Kommandozeile",
    "Trials of {name}": "Versuche von {name}",
    "The run": "Der Lauf",
    "Pages of trials": "Seiten mit Versuchen",
    "trial": "Versuch",
    "round": "Runde",
    "site": "Website",
    "link": "Leitung",
    "arm": "Arm",
    "outcome": "Ergebnis",
    "flags": "Auffälligkeiten",
    "Trial {n}": "Versuch {n}",
    "Trial {n} of {name}": "Versuch {n} von {name}",
    "the one before": "der vorige",
    "the next": "der nächste",
    "How it loaded": "Wie die Seite lud",
    "Packets over time": "Pakete im Lauf der Zeit",
    "Files": "Dateien",
    "Wireshark opens it, decrypted": "öffnet Wireshark, entschlüsselt",
    "unpacked: the network panel of DevTools": "entpackt: für die Netzwerkanalyse der DevTools",
    "Perfetto, and the performance panel of DevTools": "für Perfetto und die Leistungsanalyse der DevTools",
    # two beside each other
    "Two are compared": "Verglichen werden zwei",
    "Go back, and tick two runs.": "Geh zurück und kreuze zwei Läufe an.",
    "Nothing to compare": "Nichts zu vergleichen",
    "One of these runs has no cells yet.": "Einer dieser Läufe hat noch keine Zellen.",
    "{one} beside {other}": "{one} neben {other}",
    "Two on one clock": "Zwei auf einer Uhr",
    "Their median trials": "Ihre mittleren Versuche",
    "Cell of {name}": "Zelle von {name}",
    "What differs": "Was verschieden ist",
    "Nothing of their set-up.": "Am Aufbau nichts.",
    "what": "was",
    "No trial of it counts.": "Kein Versuch davon zählt.",
    "The keys j and k go through the requests of both, and so do the arrow keys in either drawing.":
        "Mit den Tasten j und k gehst du durch die Anfragen von beiden, in den Zeichnungen auch mit den Pfeiltasten.",
    "not asked for": "nicht angefragt",
    "One over the other": "Eins über dem anderen",
    "{over} over {under}": "{over} über {under}",
    "Pictures": "Bilder",
    "While it loaded": "Während des Ladens",
    "After the load": "Nach dem Laden",
    # why
    "Why {arm} differs from {base}": "Warum {arm} anders ist als {base}",
    "That cannot be explained yet.": "Das lässt sich noch nicht erklären.",
    "Against another arm": "Gegen einen anderen Arm",
    "Explain": "Erklären",
    # requests
    "Block a host in a new arm": "Einen Host in einem neuen Arm sperren",
    "The lines for the experiment file. A run with both arms shows what the host costs.":
        "Die Zeilen für die Experimentdatei. Ein Lauf mit beiden Armen zeigt, was der Host kostet.",
    "{n} request": "{n} Anfrage",
    "{n} requests": "{n} Anfragen",
    "Requests and their headers": "Anfragen und ihre Header",
    "no answer": "keine Antwort",
    "Request": "Anfrage",
    "Answer": "Antwort",
    "{n} more is in the HAR.": "{n} weitere steht im HAR.",
    "{n} more are in the HAR.": "{n} weitere stehen im HAR.",
    # a race
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
    "One against the other": "Einer gegen den anderen",
    "This link may watch: whoever may run begins the races.":
        "Mit diesem Link kann man zusehen. Rennen beginnt, wer laufen lassen darf.",
    # the link bench
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
    # labs
    "Go on where the link is not what was asked for: on a busy machine. All outputs then say so.":
        "Weitermachen, wo die Leitung nicht die verlangte ist: auf einem Rechner, der anderes tut. Alle Ausgaben "
        "sagen es dann.",
    "As a table (CSV)": "Als Tabelle (CSV)",
    "Begin": "Anfangen",
    "Begin my run": "Meinen Lauf beginnen",
    "A run is about to begin. Wait until it has.": "Gleich beginnt ein Lauf. Warte, bis er begonnen hat.",
    "Open the link of the class once more, then begin.": "Öffne den Link der Klasse noch einmal, dann fang an.",
    "Remove": "Entfernen",
    "Remove {name}": "{name} entfernen",
    "Somebody has begun this lab in this browser.": "In diesem Browser hat schon jemand dieses Labor angefangen.",
    "Whoever may run the class can add you.": "Wer Läufe beginnen darf, kann dich aufnehmen.",
    "{n} have begun this lab from this address.": "{n} haben dieses Labor von dieser Adresse aus angefangen.",
    "Begin one run for all who are ready": "Einen Lauf für alle beginnen, die bereit sind",
    "Begin this lab": "Dieses Labor anfangen",
    "Change them, until the run begins": "Ändern, bis der Lauf beginnt",
    "Fix my predictions": "Meine Vorhersagen festlegen",
    "Fix your predictions first.": "Lege zuerst deine Vorhersagen fest.",
    "Fixed: {moment}. sha256 {digest}": "Festgelegt: {moment}. sha256 {digest}",
    "It begins as soon as nothing else is measured here.": "Er beginnt, sobald hier nichts anderes gemessen wird.",
    "It is too late": "Es ist zu spät",
    "It takes predictions that have no run yet.": "Dazu braucht es Vorhersagen, die noch keinen Lauf haben.",
    "Labs": "Labore",
    "Look at the run": "Den Lauf ansehen",
    "No run has ended yet.": "Noch kein Lauf ist zu Ende.",
    "Nobody has begun yet.": "Noch niemand hat angefangen.",
    "Nothing is fixed yet.": "Noch ist nichts festgelegt.",
    "Nothing was begun": "Es wurde nichts begonnen",
    "One answer cannot be read.": "Eine Antwort ist nicht lesbar.",
    "{n} answers cannot be read.": "{n} Antworten sind nicht lesbar.",
    "One run is before it.": "Ein Lauf ist davor.",
    "{n} runs are before it.": "{n} Läufe sind davor.",
    "One student has not predicted yet:": "Eine Person hat noch nichts vorhergesagt:",
    "{n} students have not predicted yet:": "{n} Personen haben noch nichts vorhergesagt:",
    "Place {place} in the queue.": "Platz {place} in der Schlange.",
    "Results are hidden.": "Die Ergebnisse sind verdeckt.",
    "Show them all the same": "Trotzdem zeigen",
    "Take it home: one file with all of this": "Zum Mitnehmen: eine Datei mit alledem",
    "The class": "Die Klasse",
    "The load: {cell}": "Der Ladevorgang: {cell}",
    "The report": "Der Bericht",
    "The run began without predictions.": "Der Lauf begann ohne Vorhersagen.",
    "The run begins: the link is tested.": "Der Lauf beginnt: Die Leitung wird geprüft.",
    "The run did not begin.": "Der Lauf hat nicht begonnen.",
    "The run has ended: {ok} trials count, {failed} failed.":
        "Der Lauf ist zu Ende: {ok} Versuche zählen, {failed} sind fehlgeschlagen.",
    "The run is about to begin with what was predicted before.":
        "Der Lauf beginnt gleich, mit dem, was vorher vorhergesagt war.",
    "The verdicts are those of claims.": "Die Urteile sind die von Behauptungen.",
    "They are kept with their time and a digest. What you leave empty is not judged.":
        "Sie werden mit Uhrzeit und Prüfsumme aufbewahrt. Was du leer lässt, wird nicht beurteilt.",
    "Wait for the teacher, who begins the run. This page follows by itself.":
        "Warte, bis die Lehrkraft den Lauf beginnt. Diese Seite folgt von selbst.",
    "What comes out, the questions and the answers open here when the run has ended.":
        "Was herauskommt, die Fragen und die Antworten stehen hier, sobald der Lauf zu Ende ist.",
    "What everybody predicted is for who may run.": "Was alle vorhergesagt haben, sieht nur, wer Läufe beginnen darf.",
    "What the class predicted, and what came out": "Was die Klasse vorhergesagt hat, und was herauskam",
    "What you said, and what came out": "Was du gesagt hast, und was herauskam",
    "Who predicts later is in the next run.": "Wer später vorhersagt, ist im nächsten Lauf.",
    "Write at least one answer.": "Schreib mindestens eine Antwort.",
    "Your teacher sees this page with everybody's address, and can give you yours again.":
        "Wer unterrichtet, sieht hier die Adressen aller und kann dir deine noch einmal geben.",
    "A name leads to that student's page: send its address to who has lost it.":
        "Ein Name führt zur Seite dieser Person: Wer die eigene Adresse verloren hat, bekommt sie von dir.",
    "You get an address of your own. Keep it: your predictions are there.":
        "Du bekommst eine eigene Adresse. Heb sie auf: Dort sind deine Vorhersagen.",
    "You predict, a run shows, and you find out why.":
        "Du sagst vorher, ein Lauf zeigt es, und du findest heraus, warum.",
    "Your name, as the class knows it": "Dein Name, wie ihn die Klasse kennt",
    "Your run is made with your predictions and your own seed.":
        "Dein Lauf wird mit deinen Vorhersagen und deinem eigenen Startwert gemacht.",
    "has a run": "hat einen Lauf",
    "higher (longer, more)": "mehr (länger, größer)",
    "lower (shorter, fewer)": "weniger (kürzer, kleiner)",
    "the same": "gleich",
    "nothing": "nichts",
    "one prediction": "eine Vorhersage",
    "{n} predictions": "{n} Vorhersagen",
    "predicted": "vorhergesagt",
    "predictions": "Vorhersagen",
    "student": "Name",
    "{name}. This address is yours: come back to it.": "{name}. Diese Adresse gehört dir: Komm hierher zurück.",
    "{ready} of {all} are ready: they have predicted, and have no run.":
        "{ready} von {all} sind bereit: Sie haben vorhergesagt und noch keinen Lauf.",
    "prediction": "Vorhersage",
    "yours": "deine",
    "95% interval": "95-%-Intervall",
    "verdict": "Urteil",
    "because": "weil",
    "Your numbers": "Deine Zahlen",
    "you said {answer}": "du sagtest {answer}",
    "reproduced": "bestätigt",
    "direction only": "nur die Richtung",
    "not reproduced": "nicht bestätigt",
    "inconclusive": "unentschieden",
    "not tested": "nicht geprüft",
    "{student}, seed {seed}": "{student}, Startwert {seed}",
    "Predicted at {predicted}; the run began at {began}: {ok} trials count, {failed} failed.":
        "Vorhergesagt um {predicted}; der Lauf begann um {began}: {ok} Versuche zählen, {failed} sind fehlgeschlagen.",
    "Run {run}. sha256 of the predictions {digest}. Nothing here is loaded from elsewhere.":
        "Lauf {run}. sha256 der Vorhersagen {digest}. Nichts hiervon kommt von woanders.",
    "One student": "Eine Person",
    "{n} students": "{n} Personen",
    "Not judged": "Nicht beurteilt",
    "To be looked at": "Zum Nachsehen",
    "Nobody predicted this.": "Niemand hat das vorhergesagt.",
    "Everybody's": "Die von allen",
    "{n} predictions from {least} to {most}": "{n} Vorhersagen, von {least} bis {most}",
    "Dots: predictions. Below the line: what was measured, or worked out.":
        "Punkte: Vorhersagen. Unter der Linie: was gemessen oder ausgerechnet wurde.",
}  # fmt: skip
