package lanelab;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.net.BindException;
import java.util.Set;
import org.apache.catalina.Context;
import org.apache.catalina.LifecycleState;
import org.apache.catalina.Wrapper;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.startup.Tomcat;
import org.apache.coyote.http2.Http2Protocol;
import org.apache.tomcat.util.net.SSLHostConfig;
import org.apache.tomcat.util.net.SSLHostConfigCertificate;

/** Tomcat 10.1. */
final class ContainerOfThisVersion implements Container {
    /** What recorded addresses have and RFC 3986 has not. */
    private static final String RELAXED = "\"<>[\\]^`{|}";

    private static final Set<String> PROTOCOLS = Set.of("http/1.1", "h2", "ajp");

    @Override
    public void start(Configuration configuration, HttpServlet servlet) throws Exception {
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(configuration.get("folder"));
        Context context = tomcat.addContext("", null);
        Wrapper wrapper = Tomcat.addServlet(context, "site", servlet);
        wrapper.setLoadOnStartup(1);
        context.addServletMappingDecoded("/*", "site");
        Connector connector = connector(configuration);
        tomcat.setConnector(connector);
        tomcat.start();
        // A connector that cannot listen says so in the log only.
        if (connector.getState() != LifecycleState.STARTED)
            throw new BindException("Address already in use, or not to be had: " + connector);
    }

    @Override
    public long requestsOf(HttpServletRequest request) {
        return 0; // maxKeepAliveRequests
    }

    private static Connector connector(Configuration configuration) throws IOException {
        String protocol = configuration.get("protocol");
        if (!PROTOCOLS.contains(protocol)) throw new IOException("Tomcat does not speak " + protocol);
        boolean ajp = protocol.equals("ajp");
        Connector connector = new Connector(
                ajp ? "org.apache.coyote.ajp.AjpNioProtocol" : "org.apache.coyote.http11.Http11NioProtocol");
        set(connector, "address", configuration.get("listen"));
        connector.setPort(configuration.number("port"));
        connector.setURIEncoding("UTF-8");
        connector.setEncodedSolidusHandling("passthrough");
        set(connector, "acceptCount", configuration.get("backlog"));
        set(connector, "maxThreads", configuration.get("threads"));
        set(connector, "minSpareThreads", String.valueOf(Math.min(10, configuration.number("threads"))));
        set(connector, "keepAliveTimeout", configuration.get("idle_ms"));
        if (ajp) {
            set(connector, "secretRequired", "false");
            return connector;
        }
        int requests = configuration.number("requests_per_connection");
        set(connector, "maxKeepAliveRequests", String.valueOf(requests == 0 ? -1 : requests));
        set(connector, "relaxedPathChars", RELAXED);
        set(connector, "relaxedQueryChars", RELAXED);
        set(connector, "server", configuration.get("version"));
        if (configuration.tls()) secure(connector, configuration);
        if (protocol.equals("h2")) connector.addUpgradeProtocol(http2(configuration));
        return connector;
    }

    private static Http2Protocol http2(Configuration configuration) throws IOException {
        Http2Protocol http2 = new Http2Protocol();
        http2.setMaxConcurrentStreams(configuration.number("streams"));
        http2.setMaxConcurrentStreamExecution(configuration.number("threads")); // 20 is usual: the pool is to be the limit
        http2.setKeepAliveTimeout(configuration.number("idle_ms"));
        http2.setOverheadCountFactor(0); // many small requests are the purpose, and no attack
        return http2;
    }

    private static void secure(Connector connector, Configuration configuration) throws IOException {
        SSLHostConfig host = new SSLHostConfig();
        host.setProtocols(configuration.get("tls"));
        SSLHostConfigCertificate certificate =
                new SSLHostConfigCertificate(host, SSLHostConfigCertificate.Type.UNDEFINED);
        certificate.setCertificateFile(configuration.get("certificate"));
        certificate.setCertificateKeyFile(configuration.get("key"));
        host.addCertificate(certificate);
        connector.setScheme("https");
        connector.setSecure(true);
        set(connector, "SSLEnabled", "true");
        connector.addSslHostConfig(host);
    }

    private static void set(Connector connector, String name, String value) throws IOException {
        if (!connector.setProperty(name, value)) throw new IOException("Tomcat has no setting " + name);
    }
}
