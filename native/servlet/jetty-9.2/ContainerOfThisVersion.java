package lanelab;

import java.io.IOException;
import javax.servlet.http.HttpServlet;
import javax.servlet.http.HttpServletRequest;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.server.Connector;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnection;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.servlet.ServletContextHandler;
import org.eclipse.jetty.servlet.ServletHolder;
import org.eclipse.jetty.spdy.api.server.ServerSessionFrameListener;
import org.eclipse.jetty.spdy.server.http.HTTPSPDYServerConnectionFactory;
import org.eclipse.jetty.spdy.server.http.PushStrategy;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/** Jetty 9.2, the last line with SPDY. */
final class ContainerOfThisVersion implements Container {
    @Override
    public void start(Configuration configuration, HttpServlet servlet) throws Exception {
        Server server = new Server(new QueuedThreadPool(configuration.number("threads")));
        ServerConnector connector = connector(server, configuration);
        connector.setHost(configuration.get("listen"));
        connector.setPort(configuration.number("port"));
        connector.setAcceptQueueSize(configuration.number("backlog"));
        connector.setIdleTimeout(configuration.number("idle_ms"));
        server.addConnector(connector);
        ServletContextHandler context = new ServletContextHandler(server, "/");
        context.addServlet(new ServletHolder(servlet), "/*");
        server.start();
    }

    @Override
    public long requestsOf(HttpServletRequest request) {
        HttpConnection connection = HttpConnection.getCurrentConnection();
        return connection == null ? 0 : connection.getMessagesIn(); // null: SPDY's is another
    }

    /** SPDY from the first byte: Jetty's own connector for it would speak HTTP/1.1 in clear, and learn the protocol in TLS. */
    private static final class SpdyFactory extends HTTPSPDYServerConnectionFactory {
        private final int streams;

        SpdyFactory(int version, HttpConfiguration http, int streams) {
            super(version, http, new PushStrategy.None());
            this.streams = streams;
        }

        @Override
        protected ServerSessionFrameListener provideServerSessionFrameListener(Connector connector, EndPoint endPoint) {
            return new AnnouncingListener(super.provideServerSessionFrameListener(connector, endPoint), streams);
        }
    }

    private static ServerConnector connector(Server server, Configuration configuration) throws IOException {
        String protocol = configuration.get("protocol");
        HttpConfiguration http = new HttpConfiguration();
        switch (protocol) {
            case "http/1.1":
                return new ServerConnector(server, new HttpConnectionFactory(http));
            case "spdy/3":
            case "spdy/2":
                int version = Integer.parseInt(protocol.substring("spdy/".length()));
                return new ServerConnector(server, new SpdyFactory(version, http, configuration.number("streams")));
            default:
                throw new IOException("Jetty 9.2 does not speak " + protocol);
        }
    }
}
