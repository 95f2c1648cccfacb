import { dirname } from 'node:path';
import { SvcError } from '../../../services/contracts/errors.ts';
import { engineFor } from '../../engines/engine-of.ts';
import { adviseOnMembers } from '../../engines/sandbox/check-sandbox.ts';
import { checkMachine } from '../../lifecycle/check-machine.ts';
import { isVersion, versionOf } from '../../machine/check-program.ts';
import { findProgram } from '../../machine/find-program.ts';
import { type Examined, type Found, failed, ok, type Planned, warning } from './finding.ts';

const oldestNode = '24.0';

export async function checkNode(): Promise<readonly Found[]> {
  const { version, execPath } = process;
  if (isVersion(version.slice(1), oldestNode)) return [ok(`${version.slice(1)}, ${execPath}`)];
  return [failed(`${version.slice(1)} is too old (${execPath}).`, 'Install Node 24 or newer.')];
}

/** Programs of the platform, then those that MCP servers are often started by. */
export async function checkPrograms({ installation, plan, env }: Planned): Promise<readonly Found[]> {
  const { definition } = plan;
  await checkMachine(installation, definition);
  const notices = await engineFor(definition).check(plan, env);
  const advice = await adviseOnMembers(definition, env.PATH);
  const foreign = plan.parts.flatMap(({ program }) => (program.kind === 'foreign' ? [program] : []));
  const needed = definition.engine === 'process' ? foreign : [];
  const found = [...new Map(needed.map((program) => [program.command, program])).values()].map(
    async ({ command, askVersion }) => ok(await describe(command, { env, askVersion })),
  );
  return [
    ...(await Promise.all(found)),
    ...(await Promise.all(launchers.map((launcher) => checkLauncher(launcher, env)))),
    ...notices.map((notice) => ok(notice)),
    ...advice.map((text) => warning(text, 'Read what a sandbox needs: docs/sandbox.md in the package.')),
  ];
}

interface LaunchProgram {
  readonly command: string;
  readonly why: string;
}

const launchers: readonly LaunchProgram[] = [
  { command: 'npx', why: 'MCP servers from npm' },
  { command: 'uvx', why: 'MCP servers from PyPI' },
];

async function checkLauncher({ command, why }: LaunchProgram, env: Examined['env']): Promise<Found> {
  if (findProgram(command, env.PATH) !== null) return ok(await describe(command, { env, askVersion: ['--version'] }));
  return warning(`${command} is not on PATH: ${why} cannot start.`, `Install ${command} if you need ${why}.`);
}

interface Asking {
  readonly env: Examined['env'];
  readonly askVersion: readonly string[];
}

async function describe(command: string, { env, askVersion }: Asking): Promise<string> {
  const file = findProgram(command, env.PATH);
  if (file === null) throw new SvcError('unavailable', `${command} is not on PATH.`);
  return `${command} ${(await versionOf(file, askVersion)) ?? 'of an unknown version'}, in ${dirname(file)}`;
}
