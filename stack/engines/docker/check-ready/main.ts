import { get } from 'node:http';

/** Asks a service inside its container whether it is ready. Exit code 0: ready. Otherwise prints what is missing. */
const url = process.argv[2] ?? '';
const timeoutMs = 2500;

const question = get(url, { timeout: timeoutMs }, (answer) => {
  process.exitCode = answer.statusCode === 200 ? 0 : 1;
  if (process.exitCode === 0) answer.resume();
  else {
    process.stdout.write(`${url} returned error ${answer.statusCode}\n`);
    answer.pipe(process.stdout);
  }
});
question.on('timeout', () => question.destroy(new Error(`no answer within ${timeoutMs} ms`)));
question.on('error', ({ message }) => {
  process.stdout.write(message);
  process.exitCode = 1;
});
