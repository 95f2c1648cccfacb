// Starts a child with the launcher of a runtime, one that neither its closed input nor SIGTERM ends and that has a child of its own;
// prints both pids, and waits to be killed. The second argument may say `sandboxed`.

import { readdir } from 'node:fs/promises';
import { createLog } from '../../../kit/log.ts';
import { createChildLauncher } from '../../launchers/child.ts';
import { openChildNotes } from '../../launchers/leftovers.ts';
import { createLook } from '../../launchers/processes.ts';
import { createSpawnInSandbox } from '../../launchers/sandbox/bwrap.ts';
import { spawnOpenly } from '../../launchers/spawn-child.ts';

const [workingDir, how] = process.argv.slice(2);
const notes = await openChildNotes(workingDir);
const log = createLog({ service: 'test', level: 'error', destination: process.stderr });
const inherited = { PATH: process.env.PATH };
const sandboxed = () => createSpawnInSandbox({ workingDir, hiddenPaths: [], allowedPaths: [] });
const spawnChild = how === 'sandboxed' ? sandboxed() : spawnOpenly;
const look = createLook();
const launch = createChildLauncher({
  workingDir,
  inherited,
  forwardStderr: false,
  notes,
  look,
  log,
  spawnChild,
});

const stubborn = `process.on('SIGTERM', () => {}); setInterval(() => {}, 1000);`;
const program = `${stubborn}
  const { pid } = require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(stubborn)}], { detached: true, stdio: 'ignore' });
  console.log(JSON.stringify([process.pid, pid]));`;

const listener = {
  async message(text) {
    while ((await readdir(`${workingDir}/children`)).length === 0) await new Promise(setImmediate);
    process.stdout.write(`${text}\n`);
  },
  lost() {},
  garbage() {},
  renewed() {},
  ended() {},
};
const order = { kind: 'child', command: process.execPath, args: ['-e', program], cwd: null, env: {} };
await launch({ mcpServer: 'srv_x', name: 'x', launch: order, listener });
