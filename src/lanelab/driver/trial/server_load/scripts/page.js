// A user loads a page as a browser does, the page itself first and then all that it needs, and reads it for a while.
import http from 'k6/http';
import { sleep } from 'k6';
import lab from 'k6/x/lab';

const params = { headers: { ...lab.headers }, timeout: lab.timeout, redirects: 0 };
const [page, ...objects] = lab.urls;
const requests = objects.map((url) => ['GET', url, null, params]);

export default function () {
  lab.page(() => {
    const failed = http.get(page, params).error_code; // also of a status from 400 on
    if (!failed && requests.length > 0) {
      http.batch(requests); // main.js says how many at once
    }
  });
  if (lab.thinkSeconds > 0) {
    sleep(lab.thinkSeconds);
  }
}
