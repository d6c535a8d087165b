// Makes clock and random numbers of scripts the same in each load. Evaluated in each new page, frame and worker before
// anything of the site's. docs/reference/browser.md says what it leaves alone.
(seed, now_ms) => {
  "use strict";
  const performanceNow = performance.now.bind(performance);
  const replace = (where, name, value) =>
    Object.defineProperty(where, name, { value, writable: true, configurable: true, enumerable: false });

  // Each document and worker has numbers of its own, so that two of them do not make the same name. The scheme is
  // left out: it is the arm's. So is what follows blob:, which the browser makes up. A worker has no address before its
  // script is there, and asking it for one then ends the process: so it is asked when the first number is wanted.
  const address = () => (location.host ? location.host + location.pathname + location.search : "");
  const early = typeof document === "undefined" ? null : address();
  const generator = (salt) => {
    let state = null;
    const begin = () => {
      const named = early ?? address();
      state = (seed ^ salt) >>> 0;
      for (let i = 0; i < named.length; i++) state = (Math.imul(state, 31) + named.charCodeAt(i)) >>> 0;
    };
    return () => {
      if (state === null) begin();
      state = (state + 0x6d2b79f5) >>> 0;
      let mixed = Math.imul(state ^ (state >>> 15), state | 1);
      mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
      return (mixed ^ (mixed >>> 14)) >>> 0;
    };
  };

  const forMath = generator(0);
  replace(Math, "random", function random() {
    return ((forMath() >>> 5) * 67108864 + (forMath() >>> 6)) / 9007199254740992;
  });

  if (typeof Crypto === "function") {
    const forCrypto = generator(0x9e3779b9);
    const fill = (bytes) => {
      for (let i = 0; i < bytes.length; i++) bytes[i] = forCrypto() & 255;
      return bytes;
    };
    const real = Crypto.prototype.getRandomValues;
    replace(Crypto.prototype, "getRandomValues", function getRandomValues(array) {
      real.call(this, array); // refuses what is to be refused
      fill(new Uint8Array(array.buffer, array.byteOffset, array.byteLength));
      return array;
    });
    if (Crypto.prototype.randomUUID)
      replace(Crypto.prototype, "randomUUID", function randomUUID() {
        const bytes = fill(new Uint8Array(16));
        bytes[6] = (bytes[6] & 15) | 64;
        bytes[8] = (bytes[8] & 63) | 128;
        const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
        return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
      });
  }

  const RealDate = Date;
  const now = () => now_ms + Math.floor(performanceNow());
  const repeatable = new Proxy(RealDate, {
    construct: (target, values, made) => Reflect.construct(target, values.length ? values : [now()], made),
    apply: () => new RealDate(now()).toString(),
  });
  replace(RealDate, "now", now);
  replace(RealDate.prototype, "constructor", repeatable);
  replace(globalThis, "Date", repeatable);
}
