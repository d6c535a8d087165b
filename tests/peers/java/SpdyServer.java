import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.security.MessageDigest;
import java.util.Collections;
import java.util.ConcurrentModificationException;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.handler.AbstractHandler;
import org.eclipse.jetty.spdy.api.GoAwayInfo;
import org.eclipse.jetty.spdy.api.RstInfo;
import org.eclipse.jetty.spdy.api.Session;
import org.eclipse.jetty.spdy.api.Stream;
import org.eclipse.jetty.spdy.api.StreamStatus;
import org.eclipse.jetty.spdy.http.HTTPSPDYHeader;
import org.eclipse.jetty.spdy.server.http.HTTPSPDYServerConnector;
import org.eclipse.jetty.spdy.server.http.PushStrategy;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/**
 * Jetty's SPDY as a server in clear.
 *
 * <p>SpdyServer VERSION: 2 or 3; says "ready PORT". The same paths as spdy-server.js, without /refused and /fields.
 */
public class SpdyServer extends AbstractHandler {
    private static final int PIECE_BYTES = 65536;
    private static final byte[] PIECE = new byte[PIECE_BYTES];
    private static final int THREADS = 150; // each request that waits for others holds one

    /** Streams by their path, for those who need more than a servlet can do: the push strategy sees them go by. */
    private final Map<String, Stream> streams = new ConcurrentHashMap<>();

    private CountDownLatch together;

    static {
        for (int i = 0; i < PIECE_BYTES; i++) PIECE[i] = (byte) (i % 251);
    }

    private void bytes(HttpServletResponse response, long bytes) throws IOException {
        response.setContentType("application/octet-stream");
        OutputStream out = response.getOutputStream();
        for (long left = bytes; left > 0; left -= Math.min(left, PIECE_BYTES))
            out.write(PIECE, 0, (int) Math.min(left, PIECE_BYTES));
    }

    private void sum(HttpServletRequest request, HttpServletResponse response) throws Exception {
        MessageDigest sum = MessageDigest.getInstance("SHA-256");
        byte[] part = new byte[PIECE_BYTES];
        long bytes = 0;
        InputStream in = request.getInputStream();
        for (int count = in.read(part); count >= 0; count = in.read(part)) {
            sum.update(part, 0, count);
            bytes += count;
        }
        StringBuilder hex = new StringBuilder();
        for (byte digit : sum.digest()) hex.append(String.format("%02x", digit));
        text(response, bytes + " " + hex);
    }

    private void together(HttpServletResponse response, int count) throws Exception {
        CountDownLatch mine;
        synchronized (this) {
            if (together == null || together.getCount() == 0) together = new CountDownLatch(count);
            mine = together;
        }
        mine.countDown();
        if (!mine.await(60, TimeUnit.SECONDS)) throw new IOException("the others did not come");
        text(response, count + " at once");
    }

    /** Jetty looks through what it has still to write, and stumbles where another thread writes some of it. */
    private void reset(Session session, int stream) {
        for (boolean done = false; !done; ) {
            try {
                session.rst(new RstInfo(stream, StreamStatus.INTERNAL_ERROR), new Callback.Adapter());
                done = true;
            } catch (NoSuchElementException | ConcurrentModificationException race) {
                Thread.yield();
            }
        }
    }

    private void text(HttpServletResponse response, String words) throws IOException {
        response.setContentType("text/plain");
        response.getOutputStream().print(words);
    }

    private Session sessionOf(HttpServletResponse response, String path) throws IOException {
        response.flushBuffer(); // the push strategy is asked now. Jetty takes amiss a flush with nothing to be flushed
        return streams.get(path).getSession();
    }

    @Override
    public void handle(String target, Request base, HttpServletRequest request, HttpServletResponse response)
            throws IOException {
        base.setHandled(true);
        String[] words = target.split("/");
        int number = words.length > 2 ? Integer.parseInt(words[2]) : 0;
        try {
            switch (words[1]) {
                case "bytes":
                    bytes(response, number);
                    break;
                case "sum":
                    sum(request, response);
                    break;
                case "together":
                    together(response, number);
                    break;
                case "reset":
                    bytes(response, number);
                    reset(sessionOf(response, target), streams.get(target).getId());
                    break;
                case "goaway":
                    sessionOf(response, target).goAway(new GoAwayInfo(), new Callback.Adapter());
                    text(response, "gone");
                    break;
                case "push":
                    text(response, "pushing");
                    break;
                case "pushed":
                    text(response, "pushed");
                    break;
                default:
                    response.setStatus(404);
            }
        } catch (IOException | RuntimeException error) {
            throw error;
        } catch (Exception error) {
            throw new IOException(error);
        }
    }

    private PushStrategy strategy() {
        return (stream, request, response) -> {
            String path = request.get(HTTPSPDYHeader.URI.name(stream.getSession().getVersion())).getValue();
            streams.put(path, stream);
            return path.equals("/push") ? Collections.singleton("/pushed") : Collections.emptySet();
        };
    }

    public static void main(String[] args) throws Exception {
        SpdyServer handler = new SpdyServer();
        Server server = new Server(new QueuedThreadPool(THREADS));
        HTTPSPDYServerConnector connector = new HTTPSPDYServerConnector(
                server, Short.parseShort(args[0]), new HttpConfiguration(), handler.strategy());
        connector.setHost("127.0.0.1");
        server.addConnector(connector);
        server.setHandler(handler);
        server.start();
        System.out.println("ready " + connector.getLocalPort());
        server.join();
    }
}
