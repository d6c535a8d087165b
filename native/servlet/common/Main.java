package lanelab;

import java.io.FileOutputStream;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.logging.Formatter;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/** Main FILE: serves what the configuration in that file says, until it is killed. Main --check FILE: only reads it. */
public final class Main {
    private static final int SHOWN_FRAMES = 6;

    private Main() {}

    /** A log record and where its error came from, on one line. */
    private static final class OneLine extends Formatter {
        @Override
        public String format(LogRecord record) {
            StringBuilder line = new StringBuilder(String.format("%1$tF %1$tT ", record.getMillis()));
            line.append(record.getLevel().getName()).append(' ').append(record.getLoggerName()).append(": ");
            line.append(formatMessage(record));
            Throwable error = record.getThrown();
            for (int depth = 0; error != null && depth < SHOWN_FRAMES; depth++, error = error.getCause()) {
                line.append(" | ").append(error);
                for (int at = 0; at < Math.min(SHOWN_FRAMES, error.getStackTrace().length); at++)
                    line.append(" < ").append(error.getStackTrace()[at]);
            }
            return line.toString().replaceAll("\\s*\\R\\s*", " ") + "\n";
        }
    }

    /** Not a ConsoleHandler: Tomcat gives those a formatter of its own. */
    private static final class ErrorLog extends Handler {
        @Override
        public synchronized void publish(LogRecord record) {
            if (isLoggable(record)) System.err.print(getFormatter().format(record));
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    }

    public static void main(String[] args) throws Exception {
        if (args.length == 2 && args[0].equals("--check")) {
            new Configuration(Path.of(args[1])).get("listen");
            return;
        }
        Configuration configuration = new Configuration(Path.of(args[0]));
        System.setErr(new PrintStream(new FileOutputStream(configuration.get("error_log"), true), true));
        Logger root = Logger.getLogger("");
        for (Handler handler : root.getHandlers()) root.removeHandler(handler);
        Handler own = new ErrorLog();
        own.setFormatter(new OneLine());
        root.addHandler(own);
        root.setLevel(Level.INFO);
        Container container = new ContainerOfThisVersion();
        try {
            container.start(configuration, new SiteServlet(configuration, container));
        } catch (Throwable error) {
            root.log(Level.SEVERE, "it cannot be started", error);
            System.exit(1);
        }
    }
}
