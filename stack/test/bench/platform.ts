import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { everything, freePort, repository, svc } from './processes.ts';
import { platformSide, type Side } from './sides.ts';

/** An installation of its own for the bench: the demo, server-everything, a skill that echoes, a role and a key. */
export interface Platform {
  readonly dir: string;
  readonly mcpUrl: URL;
  readonly apiUrl: string;
  readonly key: string;
  /** The process that all services run in. */
  readonly pid: number;
  /** Sessions in which the echo tool is there from the start. */
  side(): Side;
  remove(): Promise<void>;
}

const status = z.object({
  urls: z.object({ mcp: z.string(), api: z.string() }),
  services: z.array(z.object({ name: z.string(), pid: z.number().nullable() })),
});
const createdKey = z.object({ key: z.string() });
const skills = z.object({ skills: z.array(z.object({ id: z.string(), name: z.string() })) });

export async function startPlatform(): Promise<Platform> {
  const dir = join(await mkdtemp(join(tmpdir(), 'svc-bench-')), 'svc');
  await svc(dir, 'init', dir, '--yes');
  await choosePorts(dir);
  await svc(dir, 'up');
  const file = join(dir, 'bench.yaml');
  await writeFile(file, benchFile);
  // The demo has an echo too: whose is listed first has the bare name.
  await svc(dir, 'server', 'add', 'everything', '--', process.execPath, everything, 'stdio');
  await svc(dir, 'apply', file, join(repository, 'templates/demo/platform.yaml'));
  const { key } = createdKey.parse(await svc(dir, 'keys', 'create', '--name', 'bench'));
  const echo = skills.parse(await svc(dir, 'skill', 'list')).skills.find((skill) => skill.name === 'bench-echo');
  const seen = status.parse(await svc(dir, 'status'));
  const mcpUrl = new URL(seen.urls.mcp);
  const preloaded = new URL(`?skillIds=${echo?.id}`, mcpUrl);
  return {
    dir,
    mcpUrl,
    apiUrl: seen.urls.api,
    key,
    pid: await pidOf(dir),
    side: () => platformSide(preloaded, key),
    async remove() {
      await svc(dir, 'down');
      await rm(join(dir, '..'), { recursive: true, force: true });
    },
  };
}

export async function pidOf(dir: string): Promise<number> {
  const seen = status.parse(await svc(dir, 'status'));
  const pid = seen.services.find((service) => service.name === 'backend')?.pid;
  if (pid === undefined || pid === null) throw new Error('The platform does not run.');
  return pid;
}

const benchFile = `
workspace: Default
skills:
  - name: bench-echo
    description: Says back what it is told
    tools: [everything/echo]
roles:
  - { name: Bench, skills: [bench-echo] }
`;

/** Ports that nothing else uses, so that the bench runs beside an installation of its reader. */
async function choosePorts(dir: string): Promise<void> {
  const { readFile } = await import('node:fs/promises');
  const file = join(dir, 'svc.yaml');
  let text = await readFile(file, 'utf8');
  for (const name of ['backend', 'remote-mcp', 'runtime', 'frontend']) {
    text = text.replace(new RegExp(`^(\\s+${name}: *)auto`, 'm'), `$1${await freePort()}`);
  }
  await writeFile(file, text);
}
