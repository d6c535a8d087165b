package lanelab;

import java.io.IOException;
import javax.servlet.http.HttpServlet;
import javax.servlet.http.HttpServletRequest;
import org.eclipse.jetty.io.AsyncEndPoint;
import org.eclipse.jetty.server.AbstractConnector;
import org.eclipse.jetty.server.AbstractHttpConnection;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.nio.SelectChannelConnector;
import org.eclipse.jetty.servlet.ServletContextHandler;
import org.eclipse.jetty.servlet.ServletHolder;
import org.eclipse.jetty.spdy.AsyncConnectionFactory;
import org.eclipse.jetty.spdy.api.server.ServerSessionFrameListener;
import org.eclipse.jetty.spdy.http.HTTPSPDYServerConnector;
import org.eclipse.jetty.spdy.http.PushStrategy;
import org.eclipse.jetty.spdy.http.ServerHTTPSPDYAsyncConnectionFactory;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/** Jetty 8.1, that of 2013. */
final class ContainerOfThisVersion implements Container {
    /** SPDY from the first byte: by itself it would speak HTTP/1.1 in clear, and learn the protocol in TLS. */
    private static final class SpdyConnector extends HTTPSPDYServerConnector {
        private final short version;
        private final int streams;

        SpdyConnector(short version, int streams) {
            this.version = version;
            this.streams = streams;
        }

        @Override
        public AsyncConnectionFactory getDefaultAsyncConnectionFactory() {
            return new ServerHTTPSPDYAsyncConnectionFactory(
                    version, getByteBufferPool(), getExecutor(), getScheduler(), this, new PushStrategy.None()) {
                @Override
                protected ServerSessionFrameListener provideServerSessionFrameListener(
                        AsyncEndPoint endPoint, Object attachment) {
                    return new AnnouncingListener(
                            super.provideServerSessionFrameListener(endPoint, attachment), streams);
                }
            };
        }
    }

    @Override
    public void start(Configuration configuration, HttpServlet servlet) throws Exception {
        Server server = new Server();
        QueuedThreadPool pool = new QueuedThreadPool(configuration.number("threads"));
        server.setThreadPool(pool);
        AbstractConnector connector = connector(configuration);
        connector.setHost(configuration.get("listen"));
        connector.setPort(configuration.number("port"));
        connector.setAcceptQueueSize(configuration.number("backlog"));
        connector.setMaxIdleTime(configuration.number("idle_ms"));
        server.addConnector(connector);
        ServletContextHandler context = new ServletContextHandler(server, "/");
        context.addServlet(new ServletHolder(servlet), "/*");
        server.start();
    }

    @Override
    public long requestsOf(HttpServletRequest request) {
        AbstractHttpConnection connection = AbstractHttpConnection.getCurrentConnection();
        return connection == null || !request.getProtocol().startsWith("HTTP/1") ? 0 : connection.getRequests();
    }

    private static AbstractConnector connector(Configuration configuration) throws IOException {
        String protocol = configuration.get("protocol");
        switch (protocol) {
            case "http/1.1":
                return new SelectChannelConnector();
            case "spdy/3":
            case "spdy/2":
                short version = Short.parseShort(protocol.substring("spdy/".length()));
                return new SpdyConnector(version, configuration.number("streams"));
            default:
                throw new IOException("Jetty 8.1 does not speak " + protocol);
        }
    }
}
