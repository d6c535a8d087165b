// A user asks for an answer that comes line by line: the part `wait` is the first line, the page's time the last byte.
import http from 'k6/http';
import { sleep } from 'k6';
import lab from 'k6/x/lab';

const params = { headers: { ...lab.headers }, timeout: lab.timeout, redirects: 0 };

export default function () {
  lab.page(() => http.get(lab.urls[0], params));
  if (lab.thinkSeconds > 0) {
    sleep(lab.thinkSeconds);
  }
}
