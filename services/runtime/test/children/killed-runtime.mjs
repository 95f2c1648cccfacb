// Starts children with a runtime's launcher and waits to be killed. One child ignores its closed input and SIGTERM and
// has a child; their pids are printed. The second argument may be `sandboxed`, or JSON with Docker and image. Then the
// next two arguments name a child that ends with its input, and the other child.

import { readdir } from 'node:fs/promises';
import { createLog } from '../../../kit/log.ts';
import { createChildLauncher } from '../../launchers/child.ts';
import { openChildNotes } from '../../launchers/leftovers.ts';
import { createLook } from '../../launchers/processes.ts';
import { createSpawnInBwrap } from '../../launchers/sandbox/bwrap.ts';
import { createSpawnInContainer } from '../../launchers/sandbox/container.ts';
import { createSpawnOpenly } from '../../launchers/spawn-child.ts';
import { openTemporaryFolders } from '../../launchers/temporary-folders.ts';

const [workingDir, how = 'openly', listening, name = 'x'] = process.argv.slice(2);
const docker = how.startsWith('{') ? JSON.parse(how) : null;
const look = createLook();
const notes = await openChildNotes(workingDir, docker?.socket);
const log = createLog({ service: 'test', level: 'error', destination: process.stderr });
const inherited = { PATH: process.env.PATH };
const paths = { hiddenPaths: [], allowedPaths: [], memberFolders: [] };
const grounds = { workingDir, ...paths, memoryMaxMb: 256, ...docker };
const sandboxed = () => (docker === null ? createSpawnInBwrap(grounds, look) : createSpawnInContainer(grounds));
const spawnChild = how === 'openly' ? createSpawnOpenly(look) : sandboxed();
const temporaryFolders = await openTemporaryFolders(workingDir);
const sandbox = how === 'openly' ? 'auto' : docker === null ? 'bwrap' : 'container';
const launch = createChildLauncher({
  places: { workingDir, sandbox, userHome: null, temporaryFolders },
  inherited,
  forwardStderr: false,
  notes,
  log,
  spawnChild,
});

const stubborn = `process.on('SIGTERM', () => {}); setInterval(() => {}, 1000);`;
const program = `${stubborn}
  const { pid } = require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(stubborn)}], { detached: true, stdio: 'ignore' });
  console.log(JSON.stringify([process.pid, pid]));`;

const workspace = 'wsp_x';
const silent = { message() {}, lost() {}, garbage() {}, renewed() {}, ended() {} };
const command = docker === null ? process.execPath : 'node';
const orderOf = (text) => ({ kind: 'child', command, args: ['-e', text], cwd: null, env: {} });
if (listening !== undefined) {
  const order = orderOf('process.stdin.resume()');
  await launch({ mcpServer: 'srv_y', workspace, name: listening, setBy: 'operator', launch: order, listener: silent });
}
const listener = {
  ...silent,
  async message(text) {
    while ((await readdir(`${workingDir}/children`)).length === 0) await new Promise(setImmediate);
    process.stdout.write(`${text}\n`);
  },
};
await launch({ mcpServer: 'srv_x', workspace, name, setBy: 'operator', launch: orderOf(program), listener });
