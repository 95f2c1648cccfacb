import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { rpc, send } from '../../services/remote-mcp/test/raw.ts';
import { haveDgraphImage } from '../engines/docker/test/dgraph-image.ts';
import { dockerHost } from '../engines/docker/test/docker-trial.ts';
import { type Agent, textOf } from './agent.ts';
import { foreignServers } from './foreign-servers.ts';
import { hasDgraph, hasNatsServer, type Platform, startTimeoutMs, testTimeoutMs } from './platform.ts';
import { type ShapedPlatform, startShaped } from './shaped-platform.ts';
import { until } from './until.ts';

vi.setConfig({ testTimeout: testTimeoutMs });

const constant = ['list_skills', 'load_skill', 'read_skill_file', 'call_tool', 'activate_role', 'deactivate_role'];

const shapes = [
  ['embedded', { topology: 'embedded', graph: 'sqlite', engine: 'process' }, true],
  ['distributed', { topology: 'distributed', graph: 'sqlite', engine: 'process' }, hasNatsServer],
  [
    'distributed with Dgraph',
    { topology: 'distributed', graph: 'dgraph', engine: 'process' },
    hasNatsServer && hasDgraph,
  ],
  ['containers', { topology: 'distributed', graph: 'sqlite', engine: 'docker' }, dockerHost !== null],
  [
    'containers with Dgraph',
    { topology: 'distributed', graph: 'dgraph', engine: 'docker' },
    await haveDgraphImage(dockerHost),
  ],
] as const;

describe.each(shapes)('%s', (_, shape, canRun) => {
  describe.skipIf(!canRun)('the whole path', () => {
    let shaped: ShapedPlatform;
    let platform: Platform;
    let key: string;
    /** Ids by name. */
    const skills: Record<string, string> = {};

    beforeAll(async () => {
      shaped = await startShaped(shape, (yaml) => yaml.replace('levels: null', 'levels: calls=debug'));
      ({ platform } = shaped);
      const { everything, filesystem, memory } = foreignServers;
      const remembered = join(platform.folder, 'memory.env');
      await writeFile(remembered, `MEMORY_FILE_PATH=${join(shaped.writable, 'memory.jsonl')}\n`);
      await Promise.all([
        platform.addServer('everything', shaped.asThere(everything)),
        platform.addServer('files', shaped.asThere([...filesystem, platform.folder])),
        platform.addServer('memory', shaped.asThere(memory), ['--variable-file', remembered]),
      ]);
      const demos = ['echo', 'get-sum', 'trigger-long-running-operation'];
      skills.demos = await platform.addSkill(
        'demos',
        demos.map((tool) => `everything/${tool}`),
      );
      skills.read = await platform.addSkill('read', ['files/read_text_file']);
      skills.remember = await platform.addSkill('remember', ['memory/create_entities', 'memory/read_graph']);
      await platform.addRole('Reader', ['demos', 'read']);
      await platform.addRole('Writer', ['remember']);
      key = await platform.addKey('agent');
    }, startTimeoutMs);
    afterAll(() => shaped?.[Symbol.asyncDispose](), startTimeoutMs);

    const loaded = (name: string) => platform.connect(key, `?skillIds=${skills[name]}`);

    test('an added MCP server is Connected, with the tools that it lists', async () => {
      const { mcpServers } = await platform.svc('server', 'list');
      const seen = mcpServers.map(({ name, status, health, tools }: Record<string, unknown>) => [
        name,
        status,
        health,
        Number(tools) > 5,
      ]);
      expect(seen.sort()).toEqual([
        ['everything', 'Connected', 'green', true],
        ['files', 'Connected', 'green', true],
        ['memory', 'Connected', 'green', true],
      ]);
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
      // Long before its two minutes are over, remote-mcp has put the call down as ended.
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
      // From here on both send the same ids in the same order.
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

    test('svc down and svc up keep all that there is, the session of an agent too', {
      timeout: startTimeoutMs,
    }, async () => {
      const agent = await loaded('remember');
      await agent.text('load_skill', { skill: 'demos' });
      const entity = { name: 'kept', entityType: 'thing', observations: ['outlives a restart'] };
      await agent.text('create_entities', { entities: [entity] });
      const lists = async () => ({
        servers: (await platform.svc('server', 'list')).mcpServers.map(({ id, name }: Record<string, string>) => [
          id,
          name,
        ]),
        skills: await platform.svc('skill', 'list'),
        roles: await platform.svc('role', 'list'),
        keys: (await platform.svc('keys', 'list')).keys.map(({ id }: Record<string, string>) => id),
      });
      const before = await lists();
      await platform.svc('down');
      await expect(fetch(platform.mcpUrl)).rejects.toThrow();
      expect(await platform.fails('status')).toMatchObject({ code: 4, json: { state: 'stopped' } });
      await platform.svc('up');
      await until(async () =>
        (await platform.svc('status')).mcpServers.every(({ status }: { status: string }) => status === 'Connected'),
      );
      expect(await lists()).toEqual(before);
      // The same session, with what it had loaded, by its id alone.
      const listed = await send(platform.mcpUrl, { key, session: agent.session, body: rpc('tools/list') });
      expect(listed.status).toBe(200);
      expect(listed.body.result.tools.map(({ name }: { name: string }) => name)).toContain('read_graph');
      expect(await agent.text('read_graph')).toContain('outlives a restart');
      expect(await agent.text('echo', { message: 'again' })).toBe('Echo: again');
      expect(agent.sent.filter(({ method }) => method === 'initialize')).toHaveLength(1);
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
      await platform.fails('server', 'add', 'gated', '--', ...shaped.asThere([process.execPath, file]));
      await platform.addSkill('gated-skill', ['gated/echo']);
      await platform.addRole('Gated', ['gated-skill']);
      const agent = await platform.connect(key);
      await until(async () => (await agent.text('list_skills')).includes('"gated-skill"'));
      const closed = await agent.text('list_skills', { query: 'gated-skill' });
      expect(closed).toContain('Not available');
      expect(closed).toMatch(/"gated".*exit code 1.*Repair:/s);
      await agent.text('load_skill', { skill: 'demos' });
      expect(await agent.text('echo', { message: 'not concerned' })).toBe('Echo: not concerned');
      // It is tried again by itself, and what it offers is there.
      await writeFile(gate, '');
      await until(async () =>
        (await agent.text('list_skills', { query: 'gated-skill' })).includes('Available, 1 tool'),
      );
      await agent.text('load_skill', { skill: 'gated-skill' });
      expect(await agent.text('gated_echo', { message: 'x' })).toBe('Echo: x');
      const refused = await platform.fails('server', 'remove', 'gated');
      expect([refused.code, refused.json.error.message]).toEqual([5, expect.stringContaining('gated-skill')]);
    });
  });
});

function next(agent: Agent): number {
  return Number(agent.sent.findLast(({ id }) => id !== undefined)?.id) + 1;
}
