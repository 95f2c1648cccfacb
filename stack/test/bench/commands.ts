import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { svcFile } from '../../../cli/test/run-svc.ts';
import { startPlatform } from './bench-platform.ts';
import { type Figure, medianMs } from './figure.ts';
import { timeOf } from './load.ts';
import { perSide } from './sides.ts';

const rounds = 9;
const exec = promisify(execFile);

/** Arguments of node. */
const commands = [
  { name: 'node -e 0', args: ['-e', '0'] },
  { name: 'svc --version', args: [svcFile, '--version'], maxMs: 60 },
  { name: 'svc --help', args: [svcFile, '--help'], maxMs: 150 },
  { name: 'svc status', args: [svcFile, 'status'], maxMs: 250 },
];

/** How long commands take, beside node alone. */
export async function measureCommands(): Promise<Figure[]> {
  await using bench = await startPlatform();
  const env = { ...process.env, SVC_DIR: bench.platform.installation.dir };
  const times = await perSide(commands, ({ args }) => timeOf(() => exec(process.execPath, args, { env })), rounds);
  return commands.map(({ name, maxMs }) => medianMs(name, times[name] ?? [], maxMs));
}
