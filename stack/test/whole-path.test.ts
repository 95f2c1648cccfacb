import { chmodSync, lstatSync, readdirSync } from 'node:fs';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { rpc, send } from '../../services/remote-mcp/test/raw.ts';
import { haveDgraphImage } from '../engines/docker/test/dgraph-image.ts';
import { DockerTrial, dockerHost } from '../engines/docker/test/docker-trial.ts';
import { type Agent, textOf } from './agent.ts';
import { foreignServers, repository } from './foreign-servers.ts';
import { hasDgraph, hasNatsServer, Platform, type PlatformOptions, startTimeoutMs, testTimeoutMs } from './platform.ts';
import { until } from './until.ts';

vi.setConfig({ testTimeout: testTimeoutMs });

const constant = ['list_skills', 'load_skill', 'read_skill_file', 'call_tool', 'activate_role', 'deactivate_role'];

const shapes: readonly (readonly [string, PlatformOptions, boolean])[] = [
  ['embedded', {}, true],
  ['distributed', { topology: 'distributed' }, hasNatsServer],
  ['distributed with Dgraph', { topology: 'distributed', graph: 'dgraph' }, hasNatsServer && hasDgraph],
  ['containers', { engine: 'docker' }, dockerHost !== null],
  ['containers with Dgraph', { engine: 'docker', graph: 'dgraph' }, await haveDgraphImage(dockerHost)],
];

/** Modes that others give a file, and modes that svc up gives it back. */
const repairs = [
  ['data/', '0755', '0700'],
  ['data/graph.sqlite', '0644', '0600'],
  ['logs/backend.log', '0666', '0600'],
] as const;
const documented: Readonly<Record<string, string>> = { 'svc.yaml': '0644' };

// With this umask, a file is as open as its creator lets it be.
process.umask(0);

describe.each(shapes)('%s', (_, shape, canRun) => {
  describe.skipIf(!canRun)('the whole path', () => {
    const isInContainers = shape.engine === 'docker';
    const repaired = isInContainers || shape.graph === 'dgraph' ? [] : repairs;
    const running = new AsyncDisposableStack();
    let platform: Platform;
    let key: string;
    /** Skill ids by name. */
    const skills: Record<string, string> = {};

    /** A command of this machine, as MCP servers run it: in a container, with the Node of its image. */
    const asThere = ([program = '', ...args]: readonly string[]) => [
      isInContainers && program === process.execPath ? 'node' : program,
      ...args,
    ];

    beforeAll(async () => {
      const settings = (yaml: string) => yaml.replace('levels: null', 'levels: calls=debug');
      const trial = isInContainers ? running.use(await DockerTrial.init({ ...shape, settings })) : null;
      platform = trial?.platform ?? running.use(await Platform.init({ ...shape, settings }));
      if (trial !== null) {
        await chmod(platform.folder, 0o755);
        platform.edit('allowedPaths: []', `allowedPaths: [${join(repository, 'node_modules')}, ${platform.folder}]`);
      }
      await platform.up();
      const { everything, filesystem, memory } = foreignServers;
      const remembered = join(platform.folder, 'memory.env');
      const writable = isInContainers ? '/data' : platform.folder;
      await writeFile(remembered, `MEMORY_FILE_PATH=${join(writable, 'memory.jsonl')}\n`);
      await Promise.all([
        platform.addServer('everything', asThere(everything)),
        platform.addServer('files', asThere([...filesystem, platform.folder])),
        platform.addServer('memory', asThere(memory), ['--variable-file', remembered]),
      ]);
      const demos = ['echo', 'get-sum', 'trigger-long-running-operation'].map((tool) => `everything/${tool}`);
      skills.demos = await platform.addSkill('demos', demos);
      skills.read = await platform.addSkill('read', ['files/read_text_file']);
      await platform.svc('file', 'add', 'read', join(repository, 'README.md'));
      skills.remember = await platform.addSkill('remember', ['memory/create_entities', 'memory/read_graph']);
      await platform.addRole('Reader', ['demos', 'read']);
      await platform.addRole('Writer', ['remember']);
      key = await platform.addKey('agent');
    }, startTimeoutMs);
    afterAll(() => running.disposeAsync(), startTimeoutMs);

    function expectClosed(): void {
      if (repaired.length > 0) expect(openFiles(platform.installation.dir)).toEqual([]);
    }

    const loaded = (name: string) => platform.connect(key, `?skillIds=${skills[name]}`);

    test('an added MCP server is Connected, with the tools that it lists', async () => {
      const { mcpServers } = await platform.svc('server', 'list');
      for (const { status, health, tools } of mcpServers) {
        expect([status, health, tools > 5]).toEqual(['Connected', 'green', true]);
      }
      expect(mcpServers.map(({ name }: { name: string }) => name).sort()).toEqual(['everything', 'files', 'memory']);
    });

    test('an agent sees the constant tools, finds a skill, loads it and calls its tools', async () => {
      const agent = await platform.connect(key);
      expect(await agent.listToolNames()).toEqual(constant);
      const listed = await agent.text('list_skills');
      for (const name of ['demos', 'read', 'remember']) expect(listed).toContain(`"${name}"`);
      expect(await agent.text('load_skill', { skill: 'demos' })).toContain('get-sum');
      expect(await agent.listToolNames()).toEqual([...constant, 'echo', 'get-sum', 'trigger-long-running-operation']);
      expect(await agent.text('echo', { message: 'hear me' })).toBe('Echo: hear me');
      expect(await agent.text('get-sum', { a: 2, b: 40 })).toContain('42');
    });

    test('a call that is cancelled ends everywhere', async () => {
      const agent = await loaded('demos');
      const controller = new AbortController();
      const call = agent.client.callTool(
        { name: 'trigger-long-running-operation', arguments: { duration: 120, steps: 1200 } },
        { signal: controller.signal, onprogress: () => controller.abort(new Error('enough')) },
      );
      await expect(call).rejects.toThrow(/enough/);
      const { id } = agent.sent.findLast(({ method }) => method === 'tools/call') ?? {};
      expect(agent.sent.at(-1)).toMatchObject({ method: 'notifications/cancelled', params: { requestId: id } });
      // remote-mcp records the end of the call long before its two minutes are over.
      await until(async () => {
        const { lines } = await platform.svc('logs', 'remote-mcp');
        return lines.some(
          ({ fields }: { fields: Record<string, unknown> }) =>
            fields.session === agent.session && fields.tool === 'trigger-long-running-operation',
        );
      });
      expect(await agent.text('echo', { message: 'still here' })).toBe('Echo: still here');
    });

    test('a call returns a megabyte unchanged', async () => {
      const file = join(platform.folder, 'large.txt');
      const text = Array.from({ length: 40_000 }, (_, i) => `line ${i}: ${'äöü"\\'.repeat(3)}\n`).join('');
      expect(text.length).toBeGreaterThan(1_000_000);
      await writeFile(file, text);
      expect(await (await loaded('read')).text('read_text_file', { path: file })).toBe(text);
    });

    test('two agents at once with the same request ids and progress tokens never meet', async () => {
      const [one, other] = [await loaded('demos'), await platform.connect(await platform.addKey('other'))];
      await other.text('load_skill', { skill: 'demos' });
      // From here on, both agents send the same ids in the same order.
      while (next(one) < next(other)) await one.client.ping();
      const work = async (agent: Agent, steps: number) => {
        const seen: unknown[] = [];
        const slow = agent.client.callTool(
          { name: 'trigger-long-running-operation', arguments: { duration: 1, steps } },
          { onprogress: ({ progress, total }) => seen.push([progress, total]) },
        );
        const echoes = Array.from({ length: 50 }, (_, i) => agent.text('echo', { message: `${steps}.${i}` }));
        return { seen, slow: textOf(await slow), echoes: await Promise.all(echoes) };
      };
      const begin = Math.max(one.sent.length, other.sent.length);
      const results = await Promise.all([work(one, 3), work(other, 5)]);
      for (const [i, steps] of [3, 5].entries()) {
        expect(results[i]?.slow).toContain(`Steps: ${steps}.`);
        expect(results[i]?.seen).toEqual(Array.from({ length: steps }, (_, step) => [step + 1, steps]));
        expect(results[i]?.echoes).toEqual(Array.from({ length: 50 }, (_, call) => `Echo: ${steps}.${call}`));
      }
      const ids = (agent: Agent) => agent.sent.slice(begin).map(({ id, params }) => [id, params?._meta?.progressToken]);
      expect(ids(one)).not.toEqual([]);
      expect(ids(one)).toEqual(ids(other).slice(-ids(one).length));
    });

    test('svc down and svc up keep all that there is, the session of an agent too, and others can open no file', {
      timeout: startTimeoutMs,
    }, async () => {
      const agent = await loaded('remember');
      await agent.text('load_skill', { skill: 'demos' });
      const entity = { name: 'kept', entityType: 'thing', observations: ['outlives a restart'] };
      await agent.text('create_entities', { entities: [entity] });
      const idOf = ({ id }: { id: string }) => id;
      const lists = async () => [
        (await platform.svc('server', 'list')).mcpServers.map(idOf),
        await platform.svc('skill', 'list'),
        await platform.svc('role', 'list'),
        (await platform.svc('keys', 'list')).keys.map(idOf),
      ];
      const before = await lists();
      expectClosed();
      await platform.svc('down');
      await expect(fetch(platform.mcpUrl)).rejects.toThrow();
      expect(await platform.fails('status')).toMatchObject({ code: 4, json: { state: 'stopped' } });
      expectClosed();
      for (const [path, mode] of repaired) chmodSync(join(platform.installation.dir, path), mode);
      const output = await platform.up();
      for (const [path, from, to] of repaired) {
        expect(output).toContain(`${path} was repaired: changed its mode from ${from} to ${to}.`);
      }
      expectClosed();
      await until(async () =>
        (await platform.svc('status')).mcpServers.every(({ status }: { status: string }) => status === 'Connected'),
      );
      expect(await lists()).toEqual(before);
      // The same session with its loaded skills, found by its id alone.
      const listed = await send(platform.mcpUrl, { key, session: agent.session, body: rpc('tools/list') });
      expect(listed.status).toBe(200);
      expect(listed.body.result.tools.map(({ name }: { name: string }) => name)).toContain('read_graph');
      expect(await agent.text('read_graph')).toContain('outlives a restart');
      expect(await agent.text('echo', { message: 'again' })).toBe('Echo: again');
      expect(agent.sessionsBegun()).toBe(1);
    });

    test('an MCP server that does not start makes its skill say so, with the repair, and other skills work', async () => {
      const file = join(platform.folder, 'gate.mjs');
      const gate = join(platform.folder, 'open');
      const program = foreignServers.everything[1];
      await writeFile(
        file,
        `import { existsSync } from 'node:fs';
     if (!existsSync(${JSON.stringify(gate)})) { console.error('the gate is closed'); process.exit(1); }
     process.argv[2] = 'stdio';
     await import(${JSON.stringify(program)});`,
      );
      await platform.fails('server', 'add', 'gated', '--', ...asThere([process.execPath, file]));
      await platform.addSkill('gated-skill', ['gated/echo']);
      await platform.addRole('Gated', ['gated-skill']);
      const agent = await platform.connect(key);
      await until(async () => (await agent.text('list_skills')).includes('"gated-skill"'));
      const closed = await agent.text('list_skills', { query: 'gated-skill' });
      expect(closed).toContain('Not available');
      expect(closed).toMatch(/"gated".*exit code 1.*Repair:/s);
      await agent.text('load_skill', { skill: 'demos' });
      expect(await agent.text('echo', { message: 'not concerned' })).toBe('Echo: not concerned');
      // The runtime retries the MCP server by itself, and then its tools are there.
      await writeFile(gate, '');
      await until(async () =>
        (await agent.text('list_skills', { query: 'gated-skill' })).includes('Available, 1 tool'),
      );
      await agent.text('load_skill', { skill: 'gated-skill' });
      expect(await agent.text('gated_echo', { message: 'x' })).toBe('Echo: x');
      const refused = await platform.fails('server', 'remove', 'gated');
      expect([refused.code, refused.json.error.message]).toEqual([2, expect.stringContaining('gated-skill')]);
    });
  });
});

/** Every file and folder of an installation that others could open, with their modes. */
function openFiles(dir: string): readonly string[] {
  return readdirSync(dir, { recursive: true, encoding: 'utf8' }).flatMap((path) => {
    const stat = lstatSync(join(dir, path), { throwIfNoEntry: false });
    if (stat === undefined || stat.isSymbolicLink()) return [];
    const mode = (stat.mode & 0o777).toString(8).padStart(4, '0');
    const wanted = documented[path] ?? (stat.isDirectory() ? '0700' : '0600');
    return mode === wanted ? [] : [`${path} ${mode}`];
  });
}

function next(agent: Agent): number {
  return Number(agent.sent.findLast(({ id }) => id !== undefined)?.id) + 1;
}
