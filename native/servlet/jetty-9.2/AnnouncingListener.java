package lanelab;

import org.eclipse.jetty.spdy.api.GoAwayResultInfo;
import org.eclipse.jetty.spdy.api.PingResultInfo;
import org.eclipse.jetty.spdy.api.RstInfo;
import org.eclipse.jetty.spdy.api.Session;
import org.eclipse.jetty.spdy.api.Settings;
import org.eclipse.jetty.spdy.api.SettingsInfo;
import org.eclipse.jetty.spdy.api.Stream;
import org.eclipse.jetty.spdy.api.StreamFrameListener;
import org.eclipse.jetty.spdy.api.SynInfo;
import org.eclipse.jetty.spdy.api.server.ServerSessionFrameListener;
import org.eclipse.jetty.util.Callback;

/** Jetty's own listener, but it says at once how many streams a connection may have: clients take 100 where a server does not say. */
final class AnnouncingListener implements ServerSessionFrameListener {
    private final ServerSessionFrameListener jetty;
    private final int streams;

    AnnouncingListener(ServerSessionFrameListener jetty, int streams) {
        this.jetty = jetty;
        this.streams = streams;
    }

    @Override
    public void onConnect(Session session) {
        Settings settings = new Settings();
        settings.put(new Settings.Setting(Settings.ID.MAX_CONCURRENT_STREAMS, streams));
        SettingsInfo info = new SettingsInfo(settings);
        session.settings(info, new Callback.Adapter());
        jetty.onConnect(session);
    }

    @Override
    public StreamFrameListener onSyn(Stream stream, SynInfo syn) {
        return jetty.onSyn(stream, syn);
    }

    @Override
    public void onRst(Session session, RstInfo reset) {
        jetty.onRst(session, reset);
    }

    @Override
    public void onSettings(Session session, SettingsInfo settings) {
        jetty.onSettings(session, settings);
    }

    @Override
    public void onPing(Session session, PingResultInfo ping) {
        jetty.onPing(session, ping);
    }

    @Override
    public void onGoAway(Session session, GoAwayResultInfo goAway) {
        jetty.onGoAway(session, goAway);
    }

    @Override
    public void onFailure(Session session, Throwable error) {
        jetty.onFailure(session, error);
    }
}
