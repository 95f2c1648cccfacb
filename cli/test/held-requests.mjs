import http from 'node:http';
import { syncBuiltinESMExports } from 'node:module';

/**
 * Loaded into `svc` before the program. It holds the first request that HELD_REQUEST describes until the parent process
 * answers, so that others can change something between the reading and the writing of a command.
 */
const described = new RegExp(process.env.HELD_REQUEST ?? '(?!)');
let isDone = false;

const { request } = http;
function holding(...given) {
  const sent = request(...given);
  const end = sent.end.bind(sent);
  sent.end = (body) => {
    if (isDone || !described.test(`${sent.method} ${body}`)) return end(body);
    isDone = true;
    process.send?.('held');
    process.once('message', () => {
      process.disconnect?.();
      end(body);
    });
    return sent;
  };
  return sent;
}
http.request = holding;
syncBuiltinESMExports();
// The channel to the parent alone keeps no process alive.
process.channel?.unref();
