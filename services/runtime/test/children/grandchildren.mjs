// Starts processes: one that stays in its group, one that leaves group and session, one that leaves both and loses its
// parent. Its answer contains their pids.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { serve, text } from './stdio.mjs';

const sleeping = ['-e', 'process.on("SIGTERM", () => {}); setInterval(() => {}, 1000); console.log(process.pid)'];
const orphan = `require("node:child_process").spawn(process.execPath, ${JSON.stringify(sleeping)}, { detached: true, stdio: "inherit" })
  .once("spawn", () => setTimeout(() => process.exit(), 50))`;

async function pidOf(child) {
  const [line] = await once(child.stdout, 'data');
  return Number(String(line).trim());
}

const stdio = ['ignore', 'pipe', 'ignore'];
const pids = await Promise.all(
  [
    spawn(process.execPath, sleeping, { stdio }),
    spawn(process.execPath, sleeping, { stdio, detached: true }),
    spawn(process.execPath, ['-e', orphan], { stdio, detached: true }),
  ].map(pidOf),
);

serve({ 'tools/call': () => text(JSON.stringify([process.pid, ...pids])) });
