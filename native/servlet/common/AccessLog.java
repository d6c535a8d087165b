package lanelab;

import jakarta.servlet.http.HttpServletRequest;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;

/** One line of JSON for each request, written when it is over. */
final class AccessLog {
    private final OutputStream file;

    AccessLog(String name) throws IOException {
        file = new FileOutputStream(name, true);
    }

    static long microseconds() {
        Instant now = Instant.now();
        return now.getEpochSecond() * 1_000_000 + now.getNano() / 1000;
    }

    void write(HttpServletRequest request, long began, long ended, int status, long bytes, boolean whole)
            throws IOException {
        StringBuilder line = new StringBuilder(300).append("{\"began_us\":").append(began);
        line.append(",\"duration_us\":").append(ended - began);
        text(line, "host", request.getHeader("Host"));
        text(line, "method", request.getMethod());
        text(line, "path", SiteServlet.path(request));
        line.append(",\"status\":").append(status).append(",\"body_bytes\":").append(bytes);
        text(line, "protocol", request.getProtocol());
        text(line, "remote", request.getRemoteAddr() + ":" + request.getRemotePort());
        text(line, "local", request.getLocalAddr() + ":" + request.getLocalPort());
        line.append(",\"whole\":").append(whole).append("}\n");
        byte[] data = line.toString().getBytes(StandardCharsets.UTF_8);
        synchronized (file) {
            file.write(data);
        }
    }

    private static void text(StringBuilder line, String name, String value) {
        line.append(",\"").append(name).append("\":");
        if (value == null) {
            line.append("null");
            return;
        }
        line.append('"');
        for (char each : value.toCharArray()) {
            if (each == '"' || each == '\\') line.append('\\').append(each);
            else if (each < ' ') line.append(String.format("\\u%04x", (int) each));
            else line.append(each);
        }
        line.append('"');
    }
}
