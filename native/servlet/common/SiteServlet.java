package lanelab;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The site's objects, and what only back ends have: /lanelab/stream, a large body in chunks, and /lanelab/slow, lines with time between
 * them. Written for jakarta.servlet; for older containers the same text is compiled with javax.servlet.
 */
final class SiteServlet extends HttpServlet {
    private static final long serialVersionUID = 1;
    private static final int PIECE_BYTES = 32768;
    private static final long MOST_BYTES = 1L << 40;
    private static final int LARGEST_CHUNK = 16 << 20;
    private static final int MOST_LINES = 100_000;
    private static final int LONGEST_WAIT_MS = 3_600_000;
    private static final String ITSELF = "lanelab.invalid"; // the name that lanelab asks for when it waits for the server

    private final transient Configuration configuration;
    private final transient Container container;
    private final transient AccessLog log;
    private final int requestsPerConnection; // 0: as many as come
    private final transient Map<String, byte[]> kept = new ConcurrentHashMap<>();
    private final AtomicLong room = new AtomicLong(Runtime.getRuntime().maxMemory() / 4);

    SiteServlet(Configuration configuration, Container container) throws IOException {
        this.configuration = configuration;
        this.container = container;
        this.log = new AccessLog(configuration.get("access_log"));
        this.requestsPerConnection = configuration.number("requests_per_connection");
    }

    /** As it was asked for, with its query. */
    static String path(HttpServletRequest request) {
        String query = request.getQueryString();
        return query == null ? request.getRequestURI() : request.getRequestURI() + "?" + query;
    }

    @Override
    protected void service(HttpServletRequest request, HttpServletResponse response) throws IOException {
        long began = AccessLog.microseconds();
        Body body = new Body();
        boolean whole = false;
        if (requestsPerConnection > 0 && container.requestsOf(request) >= requestsPerConnection)
            response.setHeader("Connection", "close");
        try {
            answer(request, response, body);
            whole = true;
        } catch (IOException gone) {
            body.gone = gone; // the client has left: the log says so, and a load says what its client saw
        } catch (InterruptedException ending) {
            Thread.currentThread().interrupt();
        }
        if (!host(request).equals(ITSELF))
            log.write(request, began, AccessLog.microseconds(), response.getStatus(), body.bytes, whole);
        if (body.gone != null) throw body.gone;
    }

    /** What was written of it. */
    private static final class Body {
        long bytes;
        IOException gone;
    }

    /** HAProxy's HTTP/2 has a Host header and no :authority, and Jetty's getServerName goes by the latter. */
    private static String host(HttpServletRequest request) {
        String header = request.getHeader("Host");
        String name = header == null ? request.getServerName() : header.replaceFirst(":[0-9]*$", "");
        return name == null ? "" : name.toLowerCase(Locale.ROOT);
    }

    private void answer(HttpServletRequest request, HttpServletResponse response, Body body)
            throws IOException, InterruptedException {
        boolean head = request.getMethod().equals("HEAD");
        if (!head && !request.getMethod().equals("GET")) {
            response.setHeader("Allow", "GET, HEAD");
            words(response, HttpServletResponse.SC_METHOD_NOT_ALLOWED, "only GET and HEAD are answered\n", body);
            return;
        }
        try {
            switch (request.getRequestURI()) {
                case "/lanelab/stream":
                    stream(request, response, body, head);
                    break;
                case "/lanelab/slow":
                    slow(request, response, body, head);
                    break;
                default:
                    object(configuration.object(host(request), path(request)), response, body, head);
            }
        } catch (NumberFormatException wrong) {
            words(response, HttpServletResponse.SC_BAD_REQUEST, wrong.getMessage() + "\n", body);
        }
    }

    private static void words(HttpServletResponse response, int status, String text, Body body) throws IOException {
        byte[] data = text.getBytes(StandardCharsets.UTF_8);
        response.setStatus(status);
        response.setContentType("text/plain");
        response.setContentLength(data.length);
        response.getOutputStream().write(data);
        body.bytes = data.length;
    }

    private static long parameter(HttpServletRequest request, String name, long usual, long least, long most) {
        String text = request.getParameter(name);
        if (text == null && usual >= 0) return usual;
        if (text != null && text.matches("[0-9]{1,15}")) {
            long value = Long.parseLong(text);
            if (least <= value && value <= most) return value;
        }
        throw new NumberFormatException(name + " is to be a number from " + least + " to " + most);
    }

    /** Large bodies are written as a servlet would that makes them: chunk by chunk, and no flush between them. */
    private static void stream(HttpServletRequest request, HttpServletResponse response, Body body, boolean head)
            throws IOException {
        long bytes = parameter(request, "bytes", -1, 0, MOST_BYTES);
        byte[] chunk = new byte[(int) parameter(request, "chunk", PIECE_BYTES, 1, LARGEST_CHUNK)];
        java.util.Arrays.fill(chunk, (byte) 'x');
        response.setContentType("application/octet-stream");
        response.setHeader("Content-Length", String.valueOf(bytes));
        if (head) return;
        OutputStream out = response.getOutputStream();
        while (body.bytes < bytes) {
            int count = (int) Math.min(chunk.length, bytes - body.bytes);
            out.write(chunk, 0, count);
            body.bytes += count;
        }
    }

    /** A thread of the pool waits with each of these requests. */
    private static void slow(HttpServletRequest request, HttpServletResponse response, Body body, boolean head)
            throws IOException, InterruptedException {
        long lines = parameter(request, "lines", 100, 1, MOST_LINES);
        long everyMs = parameter(request, "every_ms", 10_000, 0, LONGEST_WAIT_MS);
        response.setContentType("text/plain");
        if (head) return;
        OutputStream out = response.getOutputStream();
        for (long number = 1; number <= lines; number++) {
            byte[] line = ("line " + number + " of " + lines + "\n").getBytes(StandardCharsets.UTF_8);
            out.write(line);
            out.flush(); // not flushBuffer(): over SPDY Jetty 8.1 would keep the line, and 9.2 takes amiss both, one after the other
            body.bytes += line.length;
            Thread.sleep(everyMs);
        }
    }

    private void object(Configuration.Found found, HttpServletResponse response, Body body, boolean head)
            throws IOException {
        if (found == null) {
            words(response, HttpServletResponse.SC_NOT_FOUND, "the site has no such object\n", body);
            return;
        }
        response.setStatus(found.status);
        for (String[] header : found.headers) response.addHeader(header[0], header[1]);
        if (found.status == HttpServletResponse.SC_NO_CONTENT || found.status == HttpServletResponse.SC_NOT_MODIFIED)
            return;
        long size = Files.size(found.file);
        response.setHeader("Content-Length", String.valueOf(size));
        if (head) return;
        byte[] whole = inMemory(found, size);
        OutputStream out = response.getOutputStream();
        if (whole != null) {
            out.write(whole);
            body.bytes = whole.length;
            return;
        }
        byte[] piece = new byte[PIECE_BYTES];
        try (InputStream in = Files.newInputStream(found.file)) {
            for (int count = in.read(piece); count >= 0; count = in.read(piece)) {
                out.write(piece, 0, count);
                body.bytes += count;
            }
        }
    }

    /** Null: there is no room for it. A quarter of the heap is for objects, first come, first served. */
    private byte[] inMemory(Configuration.Found found, long size) throws IOException {
        String name = found.file.toString();
        byte[] known = kept.get(name);
        if (known != null) return known;
        if (room.addAndGet(-size) < 0) {
            room.addAndGet(size);
            return null;
        }
        byte[] read = Files.readAllBytes(found.file);
        kept.put(name, read);
        return read;
    }
}
