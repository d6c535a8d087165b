"""Every web server that an arm can name."""

from collections.abc import Mapping

from lanelab.driver.arm.servers.apache.server import Apache
from lanelab.driver.arm.servers.caddy.server import Caddy
from lanelab.driver.arm.servers.h2o.server import H2o
from lanelab.driver.arm.servers.jetty.server import Jetty
from lanelab.driver.arm.servers.lighttpd.server import Lighttpd
from lanelab.driver.arm.servers.nginx.server import Nginx
from lanelab.driver.arm.servers.server import Server
from lanelab.driver.arm.servers.tomcat.server import Tomcat
from lanelab.driver.arm.servers.webfs.server import Webfs
from lanelab.driver.base.programs.needs import all_programs

DEFAULT = "apache"
SERVERS: Mapping[str, Server] = {
    server.name: server for server in (Apache(), Nginx(), Lighttpd(), Caddy(), H2o(), Webfs(), Tomcat(), Jetty())
}


def other_servers() -> tuple[str, ...]:
    """Servers with programs that only their own arms need: doctor examines them, and tests use them."""
    purposes = {purpose for program in all_programs() for purpose in program.purposes}
    return tuple(name for name in SERVERS if name != DEFAULT and name in purposes)
