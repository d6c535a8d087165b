// Runs in the browser's own scope, not in a page's: notes what becomes of each request, leads the site's names to their
// addresses and every other name nowhere, and trusts the run's authority. Its numbers are the browser's, in microseconds.
// docs/reference/firefox.md says what each is for.
async ({ hosts, addresses, authority, confined, alternatives }) => {
  if (addresses) {
    // Where this service exists, no HTTPS record is looked up: so only where no name is.
    const overrides = Cc["@mozilla.org/network/native-dns-override;1"].getService(Ci.nsINativeDNSResolverOverride);
    for (const [host, address] of Object.entries(addresses)) overrides.addIPOverride(host, address);
  }
  if (authority) {
    const certificates = Cc["@mozilla.org/security/x509certdb;1"].getService(Ci.nsIX509CertDB);
    certificates.addCertFromBase64(authority, "CT,,");
  }

  // A first look for alternative services is in vain: what is known of them is read from the disk first, and whether
  // HTTP/3 may be used at all is found out beside it. So look for the site's, of which preferences tell, without going there.
  const alternativesKnown = async () => {
    const services = Services.io.getProtocolHandler("http").QueryInterface(Ci.nsIHttpProtocolHandler);
    const missing = () => {
      const keys = services.altSvcCacheKeys;
      return alternatives.filter((host) => !keys.some((key) => key.includes(`:${host}:`)));
    };
    for (let look = 0; look < 100 && missing().length; look += 1) {
      for (const host of missing()) lookAt(`https://${host}/`);
      await new Promise((done) => setTimeout(done, 20));
    }
    return !missing().length;
  };
  const lookAt = (url) => {
    const channel = Services.io.newChannelFromURI(
      Services.io.newURI(url),
      null,
      Services.scriptSecurityManager.getSystemPrincipal(),
      null,
      Ci.nsILoadInfo.SEC_ALLOW_CROSS_ORIGIN_SEC_CONTEXT_IS_NULL,
      Ci.nsIContentPolicy.TYPE_OTHER,
    );
    channel.loadFlags |= Ci.nsICachingChannel.LOAD_ONLY_FROM_CACHE | Ci.nsICachingChannel.LOAD_NO_NETWORK_IO;
    channel.asyncOpen({ onStartRequest() {}, onDataAvailable() {}, onStopRequest() {} });
  };
  if (!(await alternativesKnown())) throw new Error("Firefox does not take up that the site speaks HTTP/3");

  const known = new Set(hosts);
  const exchanges = new Map(); // channel -> what is noted of it; held, else a collected wrapper is no key any more
  const bodies = new Map(); // a channel's number -> bytes of its body, decoded, as the page's process counted them
  let noted = [];
  const text = (action) => {
    try {
      return action();
    } catch (error) {
      return null; // what does not apply to a channel is an exception there
    }
  };
  const times = [
    "asyncOpenTime",
    "domainLookupStartTime",
    "domainLookupEndTime",
    "connectStartTime",
    "secureConnectionStartTime",
    "connectEndTime",
    "requestStartTime",
    "responseStartTime",
    "responseEndTime",
    "cacheReadStartTime",
    "cacheReadEndTime",
  ];
  const headersOf = (visit) => {
    const pairs = [];
    text(() => visit({ visitHeader: (name, value) => pairs.push([name, value]) }));
    return pairs;
  };

  const opened = (channel) => {
    channel.QueryInterface(Ci.nsIHttpChannel);
    const ours = known.has(channel.URI.host);
    const own = channel.loadInfo.triggeringPrincipal.isSystemPrincipal && !channel.loadInfo.browsingContextID;
    if (confined && !ours) channel.cancel(Cr.NS_ERROR_UNKNOWN_HOST);
    if (confined && !ours && own) return; // the browser's own: it went nowhere, and is no page's
    const exchange = {
      id: channel.channelId,
      url: channel.URI.spec,
      method: channel.requestMethod,
      policy: channel.loadInfo.externalContentPolicyType,
      cached: false,
    };
    exchanges.set(channel, exchange);
    noted.push(exchange);
  };

  const NOT_MODIFIED = 304; // a copy that the server confirmed: the channel says what it was confirmed as
  const answered = (channel, cached, status) => {
    const exchange = exchanges.get(channel);
    if (!exchange || exchange.status) return; // a confirmed copy shows again, as what was confirmed
    channel.QueryInterface(Ci.nsIHttpChannelInternal);
    exchange.cached = cached;
    exchange.status = status ?? channel.responseStatus;
    exchange.protocol = text(() => channel.protocolVersion);
    exchange.mime = text(() => channel.contentType) ?? "";
    exchange.asked = headersOf((visitor) => channel.visitRequestHeaders(visitor));
    exchange.got = headersOf((visitor) => channel.visitOriginalResponseHeaders(visitor));
    if (cached) return;
    exchange.remote = text(() => [channel.remoteAddress, channel.remotePort]);
    exchange.local = text(() => [channel.localAddress, channel.localPort]);
    exchange.tls = text(() => channel.securityInfo.protocolVersion);
    exchange.resumed = text(() => channel.securityInfo.resumed);
  };

  const stopped = (channel) => {
    const exchange = exchanges.get(channel);
    if (!exchange) return;
    exchanges.delete(channel);
    const timed = channel.QueryInterface(Ci.nsITimedChannel);
    for (const name of times) exchange[name] = timed[name];
    // A redirect that was kept is not read to an end: it leads on.
    const kept = exchange.cached && exchange.status >= 300 && exchange.status < 400;
    if (kept) exchange.cacheReadEndTime ||= Math.max(Date.now() * 1000, exchange.asyncOpenTime);
    exchange.initiator = text(() => timed.initiatorType) ?? "";
    const http = channel.QueryInterface(Ci.nsIHttpChannel);
    exchange.sizes = [http.requestSize, http.transferSize, http.encodedBodySize];
    exchange.error = channel.status ? ChromeUtils.getXPCOMErrorName(channel.status) : null;
  };

  const takers = {
    "http-on-opening-request": opened,
    "http-on-modify-request": (channel) => exchanges.has(channel) || opened(channel), // what a redirect leads to
    "http-on-examine-response": (channel) => answered(channel, false),
    "http-on-examine-cached-response": (channel) => answered(channel, true),
    "http-on-examine-merged-response": (channel) => answered(channel, false, NOT_MODIFIED),
    "http-on-stop-request": stopped,
  };
  const observer = {
    observe(channel, topic) {
      try {
        takers[topic](channel);
      } catch (error) {
        lanelab.problems.push(`${topic}: ${error}`);
      }
    },
  };
  for (const topic of Object.keys(takers)) Services.obs.addObserver(observer, topic);

  // The length of a decoded body is known to the process of its page alone.
  const child = `Services.obs.addObserver(channel => {
    try {
      channel.QueryInterface(Ci.nsIHttpChannel);
      sendAsyncMessage("lanelab", [channel.channelId, channel.QueryInterface(Ci.nsITimedChannel).decodedBodySize ?? channel.decodedBodySize]);
    } catch (error) {}
  }, "http-on-stop-request");`;
  Services.ppmm.addMessageListener("lanelab", ({ data: [id, bytes] }) => bodies.set(id, bytes));
  Services.ppmm.loadProcessScript(`data:,${encodeURIComponent(child)}`, true);

  const lanelab = {
    problems: [],
    begin() {
      noted = [];
      bodies.clear();
      this.problems = [];
    },
    read() {
      const exchanges = noted.map((each) => ({ ...each, body: bodies.get(each.id) ?? null }));
      return JSON.stringify({ exchanges, problems: this.problems });
    },
    // Processor time that the browser has used, in seconds, and the processes of pages.
    async processes() {
      const all = await ChromeUtils.requestProcInfo();
      const used = all.children.reduce((sum, each) => sum + each.cpuTime, all.cpuTime);
      const pages = all.children.filter((each) => each.type.startsWith("web")).map((each) => each.pid);
      return JSON.stringify({ used_s: used / 1e9, pages });
    },
  };
  globalThis.lanelab = lanelab;
  return JSON.stringify("ready");
}
