package lanelab;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;

/** One version of Tomcat or Jetty, with one servlet for everything. */
interface Container {
    /** It listens when this returns. */
    void start(Configuration configuration, HttpServlet servlet) throws Exception;

    /** How many requests HTTP/1.1's connection of this one has carried, this one among them; 0: the container counts them itself. */
    long requestsOf(HttpServletRequest request);
}
