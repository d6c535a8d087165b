"""Every web server that an arm can name."""

from __future__ import annotations

from collections.abc import Mapping

from driver.servers.apache.server import Apache
from driver.servers.caddy.server import Caddy
from driver.servers.h2o.server import H2o
from driver.servers.jetty.server import Jetty
from driver.servers.lighttpd.server import Lighttpd
from driver.servers.nginx.server import Nginx
from driver.servers.server import Server
from driver.servers.tomcat.server import Tomcat
from driver.servers.webfs.server import Webfs

DEFAULT = "apache"
SERVERS: Mapping[str, Server] = {
    server.name: server for server in (Apache(), Nginx(), Lighttpd(), Caddy(), H2o(), Webfs(), Tomcat(), Jetty())
}
