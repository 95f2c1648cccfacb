import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { runSvc, svcFile } from '../../../cli/test/run-svc.ts';
import { connectAgent } from '../agent.ts';
import { repository } from '../foreign-servers.ts';
import { type Platform, withJson } from '../platform.ts';
import { addDemo, initPlatform } from './bench-platform.ts';
import { atMost, type Figure, medianMs } from './figure.ts';
import { median, timeOf } from './load.ts';

const rounds = 5;
const helpMaxMs = 150;
const completionMaxMs = 150;
const namesCount = 1000;
const applied = { skills: 1000, mcpServers: 100, roles: 50 };
const exec = promisify(execFile);

/** How soon the command line answers a person. */
export async function measureCommandLine(): Promise<Figure[]> {
  return [await measureHelp(), await measureCompletion(), ...(await measureApply()), ...(await measureFirstCall())];
}

/** The slowest help of all commands. */
async function measureHelp(): Promise<Figure> {
  const manifest: { commands: Record<string, unknown> } = JSON.parse(
    await readFile(join(repository, 'oclif.manifest.json'), 'utf8'),
  );
  const helps = Object.keys(manifest.commands).map((id) => ({ id, times: [] as number[] }));
  for (let round = 0; round < rounds; round++) {
    for (const { id, times } of helps) times.push(await timeOf(() => node(svcFile, ...id.split(':'), '--help')));
  }
  const medians = helps.map(({ id, times }) => ({ id, ms: median(times) })).sort((a, b) => b.ms - a.ms);
  const [slowest = { id: '', ms: Number.NaN }] = medians;
  const what = `--help of ${helps.length} commands, the slowest of them`;
  return atMost(what, slowest.ms, helpMaxMs, 'ms', { medians: medians.map(({ ms }) => ms) });
}

/** Disabled MCP servers run nothing, and have names like others. */
async function measureCompletion(): Promise<Figure> {
  await using platform = await initPlatform();
  await platform.up();
  await apply(platform, { mcpServers: mcpServers(namesCount) });
  const complete = () =>
    node(svcFile, '__complete', 'bash', '--dir', platform.installation.dir, 'server', 'show', 'measured-7');
  const { stdout } = await complete();
  if (!stdout.includes('measured-777\n')) throw new Error(`No completion: ${stdout.slice(0, 200)}`);
  const times: number[] = [];
  while (times.length < 3 * rounds) times.push(await timeOf(complete));
  return medianMs(`completion of a name of ${namesCount.toLocaleString('en')} MCP servers`, times, completionMaxMs);
}

async function measureApply(): Promise<Figure[]> {
  const what = `svc apply of ${applied.skills} skills, ${applied.mcpServers} MCP servers, ${applied.roles} roles`;
  const first: number[] = [];
  const again: number[] = [];
  for (let round = 0; round < 3; round++) {
    await using platform = await initPlatform();
    await platform.up();
    await addDemo(platform);
    const content = {
      mcpServers: mcpServers(applied.mcpServers),
      skills: Array.from({ length: applied.skills }, (_, i) => ({
        ...{ name: `made-${i}`, description: `The skill of number ${i}` },
        tools: ['demo/echo', `measured-${i % applied.mcpServers}/*`],
      })),
      roles: Array.from({ length: applied.roles }, (_, i) => ({
        name: `Role ${i}`,
        skills: [`made-${i}`, `made-${i + applied.roles}`],
      })),
    };
    first.push(await apply(platform, content));
    again.push(await apply(platform, content));
  }
  return [medianMs(`${what}: first`, first, 5000), medianMs(`${what}: nothing to change`, again, 1000)];
}

/** Applies the content of a file, and returns how long that took. */
async function apply(platform: Platform, content: object): Promise<number> {
  const file = join(platform.folder, 'measured.yaml');
  // JSON is YAML.
  await writeFile(file, JSON.stringify({ workspace: 'Default', ...content }));
  return await timeOf(() => platform.svc('apply', file));
}

function mcpServers(count: number): object {
  const all = Array.from({ length: count }, (_, i) => [`measured-${i}`, { command: 'node', enabled: false }]);
  return Object.fromEntries(all);
}

/** What a person types in an empty folder until an agent has called a tool. */
const typed = [
  'init --yes',
  'up',
  `server add demo --share -- node ${join(repository, 'templates/demo/server.mjs')}`,
  'keys create laptop',
];

async function measureFirstCall(): Promise<Figure[]> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const folder = await mkdtemp(join(tmpdir(), 'svc-first-call-'));
    const svc = async (words: readonly string[]) => {
      const { code, stdout, stderr } = await runSvc(withJson(words), { cwd: folder });
      if (code !== 0) throw new Error(`svc ${words.join(' ')} ended with ${code}\n${stdout}\n${stderr}`);
      return JSON.parse(stdout);
    };
    try {
      times.push(
        await timeOf(async () => {
          // biome-ignore lint/suspicious/noExplicitAny: two answers of different commands
          const answers: any[] = [];
          for (const line of typed) answers.push(await svc(line.split(' ')));
          const { client } = await connectAgent(`${answers[1].urls.mcp}?skillIds=demo`, answers[3].key);
          await client.callTool({ name: 'echo', arguments: { text: 'first' } });
          await client.close();
        }),
      );
    } finally {
      await runSvc(['down'], { cwd: folder });
      await rm(folder, { recursive: true, force: true });
    }
  }
  return [
    atMost('from an installed package to the first tool call: commands', typed.length, 4, 'commands'),
    medianMs('from an installed package to the first tool call: time', times, 10_000),
  ];
}

function node(...args: readonly string[]) {
  return exec(process.execPath, [...args], { maxBuffer: 16 * 1024 * 1024 });
}
