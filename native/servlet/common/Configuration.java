package lanelab;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What driver/arm/servers/back_ends/configuration.py wrote: a line for each setting and each object, its words between tabs. */
final class Configuration {
    /** What the site answers to one address. */
    static final class Found {
        final int status;
        final Path file;
        final List<String[]> headers = new ArrayList<>();

        Found(int status, Path file) {
            this.status = status;
            this.file = file;
        }
    }

    private static final int OBJECT_WORDS = 5;
    private static final int HEADER_WORDS = 3;

    private final Map<String, String> settings = new LinkedHashMap<>();
    private final Map<String, Found> objects = new HashMap<>();

    Configuration(Path file) throws IOException {
        Found last = null;
        int number = 0;
        for (String line : Files.readAllLines(file)) {
            number++;
            if (line.startsWith("#")) continue;
            String[] words = line.split("\t", -1);
            if (words[0].equals("object") && words.length == OBJECT_WORDS) {
                last = new Found(Integer.parseInt(words[3]), Path.of(get("content"), words[4]));
                objects.put(words[1] + words[2], last);
            } else if (words[0].equals("header") && words.length == HEADER_WORDS && last != null) {
                last.headers.add(new String[] {words[1], words[2]});
            } else if (words.length == 2 && settings.put(words[0], words[1]) == null) {
                continue;
            } else {
                throw new IOException(file + ":" + number + " cannot be read: " + line);
            }
        }
        for (Found each : objects.values())
            if (!Files.isReadable(each.file)) throw new IOException(each.file + " cannot be read");
    }

    String get(String name) throws IOException {
        String value = settings.get(name);
        if (value == null) throw new IOException("the configuration does not say " + name);
        return value;
    }

    int number(String name) throws IOException {
        return Integer.parseInt(get(name));
    }

    boolean tls() throws IOException {
        return !get("tls").equals("off");
    }

    /** Null: the site has no such object. */
    Found object(String host, String path) {
        return objects.get(host + path);
    }
}
