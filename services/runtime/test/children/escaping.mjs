// Starts processes that leave everything that links them to it: environment, group and session. It ends with its input,
// and they lose their parent.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { serve, text } from './stdio.mjs';

const program = `console.log(process.pid); setInterval(() => {}, 1000)`;
const detached = ['-i', 'setsid', process.execPath, '-e', program];
const children = [
  spawn('env', detached, { stdio: ['ignore', 'pipe', 'ignore'] }),
  spawn('sh', ['-c', 'env "$@" & wait', 'sh', ...detached], { stdio: ['ignore', 'pipe', 'ignore'], detached: true }),
];
const pids = await Promise.all(
  children.map(async ({ stdout }) => Number(String((await once(stdout, 'data'))[0]).trim())),
);
process.stdin.on('end', () => process.exit());

serve({ 'tools/call': () => text(JSON.stringify(pids)) });
