import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.eclipse.jetty.spdy.api.BytesDataInfo;
import org.eclipse.jetty.spdy.api.DataInfo;
import org.eclipse.jetty.spdy.api.GoAwayInfo;
import org.eclipse.jetty.spdy.api.GoAwayResultInfo;
import org.eclipse.jetty.spdy.api.HeadersInfo;
import org.eclipse.jetty.spdy.api.PushInfo;
import org.eclipse.jetty.spdy.api.ReplyInfo;
import org.eclipse.jetty.spdy.api.RstInfo;
import org.eclipse.jetty.spdy.api.Session;
import org.eclipse.jetty.spdy.api.SessionFrameListener;
import org.eclipse.jetty.spdy.api.Settings;
import org.eclipse.jetty.spdy.api.SettingsInfo;
import org.eclipse.jetty.spdy.api.Stream;
import org.eclipse.jetty.spdy.api.StreamFrameListener;
import org.eclipse.jetty.spdy.api.StreamStatus;
import org.eclipse.jetty.spdy.api.SynInfo;
import org.eclipse.jetty.spdy.client.SPDYClient;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.Fields;
import org.eclipse.jetty.util.Promise;

/**
 * Jetty's SPDY as a client, on one connection in clear.
 *
 * <p>SpdyClient PORT VERSION [WINDOW_BYTES]: the same orders and answers as spdy-client.js, and for what is pushed
 * "push PATH STATUS BYTES SHA256"; "goaway" when the server goes away.
 */
public class SpdyClient {
    private static final int PIECE_BYTES = 65536;
    private static final byte[] PIECE = new byte[PIECE_BYTES];

    static {
        for (int i = 0; i < PIECE_BYTES; i++) PIECE[i] = (byte) (i % 251);
    }

    private static synchronized void say(Object... words) {
        StringBuilder line = new StringBuilder();
        for (Object word : words) line.append(line.length() == 0 ? "" : " ").append(word);
        System.out.println(line);
    }

    /** Takes what comes on a stream. */
    private static class Taker extends StreamFrameListener.Adapter {
        final String[] answer; // before status, bytes and sum
        final long resetAfter;
        final CountDownLatch left;
        final AtomicBoolean over = new AtomicBoolean();
        final MessageDigest sum;
        volatile String status = "0";
        long bytes;

        Taker(String[] answer, long resetAfter, CountDownLatch left) throws Exception {
            this.answer = answer;
            this.resetAfter = resetAfter;
            this.left = left;
            this.sum = MessageDigest.getInstance("SHA-256");
        }

        void end(Object... words) {
            if (!over.compareAndSet(false, true)) return;
            say(words);
            left.countDown();
        }

        void finish() {
            StringBuilder hex = new StringBuilder();
            for (byte part : sum.digest()) hex.append(String.format("%02x", part));
            end(answer[0], answer[1], status, bytes, hex);
        }

        void take(Fields headers) {
            Fields.Field field = headers.get(":status");
            if (field != null) status = field.getValue().split(" ")[0];
        }

        @Override
        public void onReply(Stream stream, ReplyInfo reply) {
            take(reply.getHeaders());
            say("replied", answer[1], status);
            if (reply.isClose()) finish();
        }

        @Override
        public void onHeaders(Stream stream, HeadersInfo headers) {
            take(headers.getHeaders());
            if (headers.isClose()) finish();
        }

        @Override
        public void onData(Stream stream, DataInfo data) {
            byte[] part = data.asBytes(true);
            if (over.get()) return;
            sum.update(part);
            bytes += part.length;
            if (resetAfter >= 0 && bytes >= resetAfter) {
                RstInfo cancel = new RstInfo(stream.getId(), StreamStatus.CANCEL_STREAM);
                stream.getSession().rst(cancel, new Callback.Adapter());
                end("reset", answer[1], bytes);
            } else if (data.isClose()) {
                finish();
            }
        }

        @Override
        public StreamFrameListener onPush(Stream stream, PushInfo push) {
            try {
                String path = push.getHeaders().get(":path").getValue();
                Taker taker = new Taker(new String[] {"push", path}, -1, new CountDownLatch(1));
                taker.take(push.getHeaders());
                return taker;
            } catch (Exception error) {
                throw new IllegalStateException(error);
            }
        }

        @Override
        public void onFailure(Stream stream, Throwable error) {
            end("failed", answer[1], error);
        }
    }

    private static class Listener extends SessionFrameListener.Adapter {
        final List<Taker> takers = new ArrayList<>();

        @Override
        public void onRst(Session session, RstInfo reset) {
            for (Taker taker : snapshot())
                if (taker.answer[2].equals(String.valueOf(reset.getStreamId())))
                    taker.end("failed", taker.answer[1], reset.getStreamStatus());
        }

        @Override
        public void onGoAway(Session session, GoAwayResultInfo goAway) {
            say("goaway");
            for (Taker taker : snapshot())
                if (Integer.parseInt(taker.answer[2]) > goAway.getLastStreamId())
                    taker.end("failed", taker.answer[1], "not processed before GOAWAY");
        }

        @Override
        public void onFailure(Session session, Throwable error) {
            for (Taker taker : snapshot()) taker.end("failed", taker.answer[1], error);
        }

        synchronized List<Taker> snapshot() {
            return new ArrayList<>(takers);
        }

        synchronized void add(Taker taker) {
            takers.add(taker);
        }
    }

    private static void sendBody(Stream stream, long bytes, Taker taker) {
        int piece = (int) Math.min(bytes, PIECE_BYTES);
        boolean last = piece == bytes;
        stream.data(new BytesDataInfo(60, TimeUnit.SECONDS, PIECE, 0, piece, last), new Callback() {
            @Override
            public void succeeded() {
                if (!last) sendBody(stream, bytes - piece, taker);
            }

            @Override
            public void failed(Throwable error) {
                taker.end("failed", taker.answer[1], error);
            }
        });
    }

    private static void ask(Session session, Listener listener, String order, int number, CountDownLatch left)
            throws Exception {
        String[] words = order.split(" ");
        long bodyBytes = Long.parseLong(words[3]);
        Fields headers = new Fields();
        headers.put(":method", words[0]);
        headers.put(":path", words[1]);
        headers.put(":version", "HTTP/1.1");
        headers.put(":host", "a.example");
        headers.put(":scheme", "http");
        headers.put("x-order", String.valueOf(number));
        // The third part, the stream's number, is known beforehand: ours are the only streams, and in order.
        String[] answer = {"done", String.valueOf(number), String.valueOf(2 * number + 1)};
        Taker taker = new Taker(answer, Long.parseLong(words[4]), left);
        listener.add(taker);
        SynInfo opening =
                new SynInfo(60, TimeUnit.SECONDS, headers, bodyBytes == 0, Byte.parseByte(words[2]));
        session.syn(opening, taker, new Promise.Adapter<Stream>() {
            @Override
            public void succeeded(Stream stream) {
                if (bodyBytes > 0) sendBody(stream, bodyBytes, taker);
            }

            @Override
            public void failed(Throwable error) {
                taker.end("failed", taker.answer[1], error);
            }
        });
    }

    public static void main(String[] args) throws Exception {
        List<String> orders = new ArrayList<>();
        BufferedReader reader = new BufferedReader(new InputStreamReader(System.in));
        for (String line = reader.readLine(); line != null; line = reader.readLine()) orders.add(line);

        SPDYClient.Factory factory = new SPDYClient.Factory();
        factory.start();
        SPDYClient client = factory.newSPDYClient(Short.parseShort(args[1]));
        client.setIdleTimeout(600_000);
        Listener listener = new Listener();
        Session session = client.connect(new InetSocketAddress("127.0.0.1", Integer.parseInt(args[0])), listener);
        if (args.length > 2) {
            Settings settings = new Settings();
            settings.put(new Settings.Setting(Settings.ID.INITIAL_WINDOW_SIZE, Integer.parseInt(args[2])));
            session.settings(new SettingsInfo(settings));
        }
        CountDownLatch left = new CountDownLatch(orders.size());
        for (int number = 0; number < orders.size(); number++)
            ask(session, listener, orders.get(number), number, left);
        left.await();
        Thread.sleep(500); // for what is pushed besides, and what the server says about cancelled streams
        session.goAway(new GoAwayInfo(), new Callback.Adapter());
        Thread.sleep(100);
        factory.stop();
        say("closed");
        System.exit(0);
    }
}
