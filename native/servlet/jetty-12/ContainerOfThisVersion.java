package lanelab;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import org.eclipse.jetty.alpn.server.ALPNServerConnectionFactory;
import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.ee10.servlet.ServletContextRequest;
import org.eclipse.jetty.ee10.servlet.ServletHolder;
import org.eclipse.jetty.http.UriCompliance;
import org.eclipse.jetty.http2.RateControl;
import org.eclipse.jetty.http2.server.AbstractHTTP2ServerConnectionFactory;
import org.eclipse.jetty.http2.server.HTTP2CServerConnectionFactory;
import org.eclipse.jetty.http2.server.HTTP2ServerConnectionFactory;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.server.ConnectionFactory;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.SslConnectionFactory;
import org.eclipse.jetty.util.ssl.SslContextFactory;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/** Jetty 12. */
final class ContainerOfThisVersion implements Container {
    @Override
    public void start(Configuration configuration, HttpServlet servlet) throws Exception {
        Server server = new Server(new QueuedThreadPool(configuration.number("threads")));
        ServerConnector connector = new ServerConnector(server, factories(configuration));
        connector.setHost(configuration.get("listen"));
        connector.setPort(configuration.number("port"));
        connector.setAcceptQueueSize(configuration.number("backlog"));
        connector.setIdleTimeout(configuration.number("idle_ms"));
        server.addConnector(connector);
        ServletContextHandler context = new ServletContextHandler("/");
        context.addServlet(new ServletHolder(servlet), "/*");
        context.getServletHandler().setDecodeAmbiguousURIs(true);
        server.setHandler(context);
        server.start();
    }

    @Override
    public long requestsOf(HttpServletRequest request) {
        Connection connection = ServletContextRequest.getServletContextRequest(request)
                .getConnectionMetaData()
                .getConnection();
        return request.getProtocol().startsWith("HTTP/1") ? connection.getMessagesIn() : 0;
    }

    private static ConnectionFactory[] factories(Configuration configuration) throws Exception {
        HttpConfiguration http = new HttpConfiguration();
        http.setUriCompliance(UriCompliance.UNSAFE); // recorded addresses are what they are
        HttpConnectionFactory http1 = new HttpConnectionFactory(http);
        boolean h2 = configuration.get("protocol").equals("h2");
        if (!h2 && !configuration.get("protocol").equals("http/1.1"))
            throw new IOException("Jetty 12 does not speak " + configuration.get("protocol"));
        if (!configuration.tls())
            return h2
                    ? new ConnectionFactory[] {http1, http2(new HTTP2CServerConnectionFactory(http), configuration)}
                    : new ConnectionFactory[] {http1};
        SslContextFactory.Server tls = new SslContextFactory.Server();
        tls.setKeyStore(KeyPair.of(configuration));
        tls.setKeyStorePassword("");
        tls.setIncludeProtocols(configuration.get("tls"));
        tls.setSniRequired(false);
        if (!h2) return new ConnectionFactory[] {new SslConnectionFactory(tls, http1.getProtocol()), http1};
        ALPNServerConnectionFactory alpn = new ALPNServerConnectionFactory();
        alpn.setDefaultProtocol(http1.getProtocol());
        return new ConnectionFactory[] {
            new SslConnectionFactory(tls, alpn.getProtocol()),
            alpn,
            http2(new HTTP2ServerConnectionFactory(http), configuration),
            http1
        };
    }

    private static ConnectionFactory http2(AbstractHTTP2ServerConnectionFactory factory, Configuration configuration)
            throws IOException {
        factory.setMaxConcurrentStreams(configuration.number("streams"));
        factory.setRateControlFactory(new RateControl.Factory() {}); // many small requests are the purpose, and no attack
        return factory;
    }
}
