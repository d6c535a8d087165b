// A user asks for one object after another, in turn.
import http from 'k6/http';
import { sleep } from 'k6';
import lab from 'k6/x/lab';

const params = { headers: { ...lab.headers }, timeout: lab.timeout, redirects: 0 };
const urls = [...lab.urls]; // scripts' own are faster than the generator's
let next = 0;

export default function () {
  http.get(urls[next], params);
  next = (next + 1) % urls.length;
  if (lab.thinkSeconds > 0) {
    sleep(lab.thinkSeconds);
  }
}
