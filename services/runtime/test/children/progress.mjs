// Reports progress to its caller, sends notifications without a call, and sends requests to its client.
import { send, serve, text } from './stdio.mjs';

const answers = [];

const lines = serve({
  'tools/call': ({ arguments: { steps = 3 } = {}, _meta }) => {
    send({ method: 'notifications/message', params: { level: 'info', data: 'for nobody' } });
    send({ id: 'q1', method: 'ping' });
    send({ id: 'q2', method: 'sampling/createMessage', params: {} });
    for (let progress = 1; progress <= steps; progress++) {
      send({
        method: 'notifications/progress',
        params: { progressToken: _meta?.progressToken, progress, total: steps },
      });
    }
    return new Promise((resolve) => {
      const whenAnswered = () =>
        answers.length < 2 ? setTimeout(whenAnswered, 5) : resolve(text(JSON.stringify(answers)));
      whenAnswered();
    });
  },
});
lines.on('line', (line) => {
  const { id, result, error } = JSON.parse(line);
  if (typeof id === 'string') answers.push({ id, ...(result && { result }), ...(error && { code: error.code }) });
});
