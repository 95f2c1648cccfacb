// Shakes hands, lists its tools, and then stops reading.
import { echo, send } from './stdio.mjs';

let asked = 0;
let pending = '';
process.stdin.on('data', (chunk) => {
  pending += chunk;
  const lines = pending.split('\n');
  pending = lines.pop();
  for (const { id, method, params } of lines.map((line) => JSON.parse(line))) {
    if (method === 'initialize') {
      const { protocolVersion } = params;
      send({
        id,
        result: { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'deaf', version: '1' } },
      });
    } else if (method === 'tools/list') {
      send({ id, result: { tools: [echo] } });
      asked++;
    }
  }
  if (asked > 0) process.stdin.pause();
});
setInterval(() => {}, 1000);
