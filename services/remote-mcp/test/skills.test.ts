import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { McpServerId, RoleId, SkillId } from '../../contracts/ids.ts';
import { type Platform, startPlatform, until } from './platform.ts';
import { openSession, rpc, send } from './raw.ts';
import { tool } from './runtime.ts';
import { openStream } from './stream.ts';
import { TestWorkspace } from './workspace.ts';

const constantNames = ['list_skills', 'load_skill', 'read_skill_file', 'call_tool', 'activate_role', 'deactivate_role'];

const protocolVersion = '2025-11-25';

let platform: Platform;
let workspace: TestWorkspace;
let servers: { files: McpServerId; crm: McpServerId };
let skills: { reading: SkillId; selling: SkillId; secret: SkillId; retired: SkillId };
let roles: { reader: RoleId; sales: RoleId; secret: RoleId; off: RoleId };
let key: string;

beforeAll(async () => {
  platform = await startPlatform();
  workspace = await TestWorkspace.create(platform, 'acme');
  const described = { annotations: { readOnlyHint: true }, title: 'Read', _meta: { a: 1 } };
  servers = {
    files: await workspace.mcpServer('files', [tool('read_file', described), tool('search_files'), tool('unused')]),
    crm: await workspace.mcpServer('crm', [tool('find_deal')]),
  };
  skills = {
    reading: await workspace.skill('reading', ['files/read_file', 'files/search_files'], {
      description: 'Read documents',
      instructions: 'Search first.',
    }),
    selling: await workspace.skill('selling', ['crm/find_deal', 'files/read_file'], { description: 'Sell things' }),
    secret: await workspace.skill('secret', ['files/unused']),
    retired: await workspace.skill('retired', ['files/search_files']),
  };
  roles = {
    reader: await workspace.role('Reader', [skills.reading]),
    sales: await workspace.role('Sales', [skills.selling]),
    secret: await workspace.role('Secret', [skills.secret]),
    off: await workspace.role('Off', [skills.retired], { enabled: false }),
  };
  key = (await workspace.key('agent', { roles: [roles.reader, roles.sales, roles.off] })).text;
  const session = await openSession(platform.mcpUrl, key);
  await until(async () => (await say(session, 'list_skills')).includes('2 skills'));
});
afterAll(() => platform.stop());

async function call(session: string, name: string, args: object = {}) {
  return (await send(platform.mcpUrl, { key, session, body: rpc('tools/call', { name, arguments: args }) })).body;
}

/** All texts of a tool's answer, joined. */
async function say(session: string, name: string, args: object = {}): Promise<string> {
  const { result } = await call(session, name, args);
  return result.content.map(({ text }: { text: string }) => text).join('\n');
}

async function list(session: string): Promise<readonly { name: string }[]> {
  return (await send(platform.mcpUrl, { key, session, body: rpc('tools/list') })).body.result.tools;
}

async function names(session: string): Promise<readonly string[]> {
  return (await list(session)).map(({ name }) => name).slice(constantNames.length);
}

async function openWith(query: string): Promise<string> {
  return await openSession(`${platform.mcpUrl}?${query}`, key);
}

test('without preloading, a session lists the constant tools only', async () => {
  const tools = await list(await openSession(platform.mcpUrl, key));
  expect(tools.map(({ name }) => name)).toEqual(constantNames);
  for (const one of tools) {
    expect(one).toMatchObject({
      inputSchema: { type: 'object' },
      annotations: { readOnlyHint: one.name !== 'call_tool' },
    });
  }
});

test('a skill with a pattern has the tools that its MCP server lists at the moment', async () => {
  const docs = await workspace.mcpServer('docs', [tool('doc_read')]);
  const following = await workspace.skill('following', ['docs/doc_*']);
  const role = await workspace.role('Follower', [following]);
  const { text } = await workspace.key('follower', { roles: [role] });
  const first = await openSession(platform.mcpUrl, text);
  const ask = async () => {
    const body = rpc('tools/call', { name: 'list_skills', arguments: {} });
    return (await send(platform.mcpUrl, { key: text, session: first, body })).body.result.content[0].text;
  };
  await until(async () => (await ask()).includes('"following"'));
  const session = await openSession(`${platform.mcpUrl}?skillIds=${following}`, text);
  const listed = async () => {
    const { body } = await send(platform.mcpUrl, { key: text, session, body: rpc('tools/list') });
    return body.result.tools
      .map(({ name }: { name: string }) => name)
      .slice(constantNames.length)
      .join();
  };
  await until(async () => (await listed()) === 'doc_read');
  const stream = await openStream(platform.mcpUrl, { key: text, session });
  await platform.runtime.report(docs, {}, [tool('doc_find'), tool('doc_read'), tool('other')]);
  await until(() => stream.messages.some(({ method }) => method === 'notifications/tools/list_changed'));
  expect(await listed()).toBe('doc_find,doc_read');
  await platform.runtime.report(docs, {}, [tool('other')]);
  await until(async () => (await listed()) === '');
  stream.close();
});

describe('list_skills', () => {
  test('lists the skills of the active roles, and names inactive roles', async () => {
    const text = await say(await openSession(platform.mcpUrl, key), 'list_skills');
    expect(text).toMatch(/^2 skills\. Load one/);
    expect(text).toContain('- "reading" (role "Reader"): Read documents\n  Available, 2 tools.');
    expect(text).toContain('- "selling" (role "Sales"): Sell things\n  Available, 2 tools.');
    expect(text).toContain('Disabled by an administrator: "Off".');
    expect(text).not.toMatch(/secret/i);
  });

  test('finds by words', async () => {
    const session = await openSession(platform.mcpUrl, key);
    expect(await say(session, 'list_skills', { query: 'DOCUMENTS read' })).toMatch(/^1 skill with .*\n\n- "reading"/);
    expect(await say(session, 'list_skills', { query: 'nothing like it' })).toMatch(/^No skill with/);
  });

  test('explains why a key gives no skill', async () => {
    const empty = await workspace.role('Empty', []);
    const { text: ofEmpty } = await workspace.key('of-empty', { roles: [empty, roles.off] });
    const ask = async (key: string) => {
      const session = await openSession(platform.mcpUrl, key);
      const body = rpc('tools/call', { name: 'list_skills', arguments: {} });
      return (await send(platform.mcpUrl, { key, session, body })).body.result;
    };
    await until(async () => (await ask(ofEmpty)).content[0].text.includes('"Empty"'));
    const { content, _meta } = await ask(ofEmpty);
    expect(content[0].text).toMatch(
      /^No skill is usable in this session\.\n\nActive, but without any skill: "Empty"\./,
    );
    expect(content[0].text).toContain('svc role update NAME --add-skill SKILL');
    expect(content[0].text).toContain('Disabled by an administrator: "Off".');
    expect(_meta).toEqual({ 'svc/skills': { skills: 0, tools: 0, names: [], unavailable: [] } });
  });

  test("gives programs the counts of the session's skills and roles", async () => {
    const { result } = await call(await openSession(platform.mcpUrl, key), 'list_skills');
    const seen = { skills: 2, tools: 3, names: ['reading', 'selling'], unavailable: [] };
    expect(result._meta).toEqual({ 'svc/skills': seen });
  });

  test('refuses a made-up cursor', async () => {
    const { error } = await call(await openSession(platform.mcpUrl, key), 'list_skills', { cursor: '!' });
    expect(error).toMatchObject({ code: -32602, message: expect.stringMatching(/cursor/) });
  });
});

describe('load_skill', () => {
  test('answers instructions and definitions, and lists the tools from then on', async () => {
    const session = await openSession(platform.mcpUrl, key);
    const stream = await openStream(platform.mcpUrl, { key, session });
    const text = await say(session, 'load_skill', { skill: 'reading' });
    expect(text).toContain('# reading\n\nRead documents\n\nSearch first.');
    expect(text).toContain('"name":"read_file","description":"the tool read_file"');
    await until(() => stream.messages.length > 0);
    expect(stream.messages).toEqual([{ jsonrpc: '2.0', method: 'notifications/tools/list_changed' }]);
    expect((await list(session)).slice(constantNames.length)).toEqual([
      {
        name: 'read_file',
        description: 'the tool read_file',
        inputSchema: { type: 'object' },
        annotations: { readOnlyHint: true },
        title: 'Read',
        _meta: { a: 1 },
      },
      { name: 'search_files', description: 'the tool search_files', inputSchema: { type: 'object' } },
    ]);
    expect(await say(session, 'list_skills')).toContain('Available, 2 tools, loaded.');
    await say(session, 'load_skill', { skill: skills.reading });
    expect(stream.messages).toHaveLength(1);
    stream.close();
  });

  test('discloses to that session only', async () => {
    await say(await openSession(platform.mcpUrl, key), 'load_skill', { skill: 'reading' });
    expect(await names(await openSession(platform.mcpUrl, key))).toEqual([]);
  });

  test.each<[string, unknown, RegExp]>([
    ['unknown', 'nothing', /no skill "nothing" for this key/],
    ['outside the key', 'secret', /no skill "secret" for this key/],
    ['only in a disabled role', 'retired', /only in roles that are disabled: "Off"/],
    ['not named', undefined, /Give the name/],
    ['not a name', 7, /Give the name/],
  ])('refuses one that is %s, in words', async (_what, skill, message) => {
    const { result } = await call(await openSession(platform.mcpUrl, key), 'load_skill', { skill });
    expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringMatching(message) }] });
  });

  test('is announced on a stream that is opened later', async () => {
    const session = await openSession(platform.mcpUrl, key);
    await say(session, 'load_skill', { skill: 'reading' });
    const stream = await openStream(platform.mcpUrl, { key, session });
    await until(() => stream.messages.length === 1);
    stream.close();
    await names(session);
    const again = await openStream(platform.mcpUrl, { key, session });
    await say(session, 'load_skill', { skill: 'selling' });
    await until(() => again.messages.length > 0);
    expect(again.messages).toHaveLength(1);
    again.close();
  });
});

describe('roles', () => {
  test('a role that is not active hides its skills and refuses their tools, until it is activated', async () => {
    const session = await openSession(platform.mcpUrl, key);
    await say(session, 'load_skill', { skill: 'selling' });
    expect(await names(session)).toEqual(['find_deal', 'read_file']);
    expect(await say(session, 'deactivate_role', { role: 'Sales' })).toMatch(/not active any more/);
    expect(await names(session)).toEqual([]);
    expect(await say(session, 'list_skills')).toMatch(/^1 skill\.[\s\S]*activated with activate_role: "Sales"\./);
    const refused = (await call(session, 'find_deal')).result;
    expect(refused).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching(/activate_role: "Sales"/) }],
    });
    expect(await say(session, 'activate_role', { role: roles.sales })).toMatch(/is active/);
    expect(await names(session)).toEqual(['find_deal', 'read_file']);
  });

  test('those that are disabled, outside the key or unknown cannot be activated', async () => {
    const session = await openSession(platform.mcpUrl, key);
    const refusal = async (role: unknown) => (await call(session, 'activate_role', { role })).result;
    expect(await refusal('Off')).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching(/disabled/) }],
    });
    for (const role of ['Secret', roles.secret, 'nothing', null]) {
      const { isError, content } = await refusal(role);
      expect([isError, content[0].text]).toEqual([
        true,
        'There is no such role for this key. Its roles: "Off", "Reader", "Sales".',
      ]);
    }
  });

  test('a role that an administrator disables disappears from open sessions, which are notified', async () => {
    const session = await openSession(platform.mcpUrl, key);
    await say(session, 'load_skill', { skill: 'selling' });
    await names(session);
    const stream = await openStream(platform.mcpUrl, { key, session });
    await workspace.updateRole(roles.sales, { enabled: false });
    await until(() => stream.messages.some(({ method }) => method === 'notifications/tools/list_changed'));
    expect(await names(session)).toEqual([]);
    await workspace.updateRole(roles.sales, { enabled: true });
    await until(async () => (await names(session)).length === 2);
    stream.close();
  });
});

describe('preloading', () => {
  test('skillIds discloses those skills to that session only', async () => {
    expect(await names(await openWith(`skillIds=${skills.reading}`))).toEqual(['read_file', 'search_files']);
    expect(await names(await openWith(`skillIds=${skills.reading},${skills.selling}`))).toEqual([
      'find_deal',
      'read_file',
      'search_files',
    ]);
    expect(await names(await openSession(platform.mcpUrl, key))).toEqual([]);
  });

  test('roleIds discloses their skills, and makes no other role active', async () => {
    const session = await openWith(`roleIds=${roles.sales}`);
    expect(await names(session)).toEqual(['find_deal', 'read_file']);
    expect(await say(session, 'list_skills')).toMatch(/^1 skill\.[\s\S]*activated with activate_role: "Reader"/);
    await say(session, 'activate_role', { role: 'Reader' });
    expect(await say(session, 'list_skills')).toMatch(/^2 skills\./);
  });

  test('takes names as well as ids', async () => {
    expect(await names(await openWith('skillIds=reading'))).toEqual(['read_file', 'search_files']);
    const mixed = `skillIds=reading,${skills.selling}&skillIds=${skills.reading}`;
    expect(await names(await openWith(mixed))).toEqual(['find_deal', 'read_file', 'search_files']);
    expect(await names(await openWith('roleIds=Sales'))).toEqual(['find_deal', 'read_file']);
  });

  test.each([
    ['skillIds=readng', 'Did you mean "reading"? skillIds takes names and ids.'],
    ['skillIds=nothing-like-it', 'skillIds takes names and ids. The skills of this key: reading, retired, selling.'],
    ['skillIds=secret', 'skillIds takes names and ids. The skills of this key: reading, retired, selling.'],
    ['roleIds=Secret', 'roleIds takes names and ids. The roles of this key: Off, Reader, Sales.'],
    ['roleIds=reader', 'Did you mean "Reader"? roleIds takes names and ids.'],
  ])('?%s is refused with 403, which names what the key has', async (query, hint) => {
    const answer = await send(`${platform.mcpUrl}?${query}`, { key, body: rpc('initialize', { protocolVersion }) });
    expect([answer.status, answer.body.error.hint]).toEqual([403, hint]);
    expect(answer.body.error.message).toMatch(/^Something in (skill|role)Ids is not within this API key\.$/);
  });

  test.each([
    ...['skills', 'skill', 'skillId', 'skill_ids', 'skillids', 'skill-ids', 'SkillIds', 'skillNames', 'skilIds'],
    ...['roles', 'role', 'roleId', 'role_ids', 'roleids', 'roleNames', 'rolIds', 'roleIds[]'],
  ])('?%s= is refused with 400, which names the parameter', async (name) => {
    const url = `${platform.mcpUrl}?${encodeURIComponent(name)}=reading`;
    const answer = await send(url, { key, body: rpc('initialize', { protocolVersion }) });
    const meant = name.toLowerCase().startsWith('s') ? 'skillIds' : 'roleIds';
    expect([answer.status, answer.body.error]).toEqual([
      400,
      {
        code: 'invalid_input',
        message: `"${name}" is not a parameter of /mcp: it must be "${meant}".`,
        hint: `Write ?${meant}=NAME, with names or ids between commas.`,
      },
    ]);
    expect(answer.headers.has('mcp-session-id')).toBe(false);
  });

  test('other parameters are ignored', async () => {
    expect(await names(await openWith('skillIds=reading&profile=x&api_key=y&sessionId=z'))).toHaveLength(2);
  });

  test('a disabled role of the key is not refused, but gives nothing', async () => {
    expect(await names(await openWith(`roleIds=${roles.off}`))).toEqual([]);
  });

  test('empty parameters count as absent', async () => {
    expect(await names(await openWith('skillIds=&roleIds=,,'))).toEqual([]);
  });

  test.each<[string, () => string]>([
    ['a skill outside the key', () => `skillIds=${skills.secret}`],
    ['a role outside the key', () => `roleIds=${roles.secret}`],
    ['an unknown skill', () => 'skillIds=skl_000000000000000000000000'],
    ['no id at all', () => 'roleIds=nonsense'],
    ['one good and one outside', () => `skillIds=${skills.reading},${skills.secret}`],
  ])('%s is refused with 403', async (_what, query) => {
    const body = rpc('initialize', { protocolVersion: '2025-11-25' });
    const answer = await send(`${platform.mcpUrl}?${query()}`, { key, body });
    expect([answer.status, answer.body.error.code, answer.headers.has('mcp-session-id')]).toEqual([
      403,
      'forbidden',
      false,
    ]);
  });

  test('is read only when the session is opened', async () => {
    const session = await openSession(platform.mcpUrl, key);
    const url = `${platform.mcpUrl}?skillIds=${skills.reading}`;
    const answer = await send(url, { key, session, body: rpc('tools/list') });
    expect(answer.body.result.tools).toHaveLength(constantNames.length);
  });
});

describe('a key with the disclosure "all"', () => {
  const own = ['find_deal', 'read_file', 'search_files'];
  async function open(disclosure: 'all' | 'skills') {
    const made = await workspace.key(`discloses-${count++}`, {
      roles: [roles.reader, roles.sales, roles.off],
      disclosure,
    });
    const session = await openSession(platform.mcpUrl, made.text);
    const ask = async (method: string, params: object = {}) =>
      (await send(platform.mcpUrl, { key: made.text, session, body: rpc(method, params) })).body.result;
    const listed = async (): Promise<readonly string[]> =>
      (await ask('tools/list')).tools.map(({ name }: { name: string }) => name);
    return { ...made, session, ask, listed };
  }
  let count = 0;

  test('lists every tool of its active roles from the start, behind the constant tools, and no other', async () => {
    const { listed } = await open('all');
    await until(async () => (await listed()).length > constantNames.length);
    expect(await listed()).toEqual([...constantNames, ...own]);
  });

  test('lists the tools of a role as long as it is active', async () => {
    const { ask, listed } = await open('all');
    await until(async () => (await listed()).length > constantNames.length);
    await ask('tools/call', { name: 'deactivate_role', arguments: { role: 'Sales' } });
    expect(await listed()).toEqual([...constantNames, 'read_file', 'search_files']);
    expect((await ask('tools/call', { name: 'list_skills' })).content[0].text).not.toContain(', loaded');
  });

  test('lists only the tools of available skills', async () => {
    const { listed } = await open('all');
    await platform.runtime.report(servers.crm, { status: 'Error', health: 'red', reason: null });
    await until(async () => (await listed()).length === constantNames.length + 2);
    await platform.runtime.report(servers.crm);
    await until(async () => (await listed()).length === constantNames.length + 3);
  });

  test('says so to the agent', async () => {
    const { text } = await open('all');
    const answer = await send(platform.mcpUrl, { key: text, body: rpc('initialize', { protocolVersion }) });
    expect(answer.body.result.instructions).toMatch(/all of them are listed/);
  });

  test('is noticed by open sessions when it changes, in both directions', async () => {
    const { id, text, session, listed } = await open('skills');
    expect(await listed()).toEqual(constantNames);
    for (const disclosure of ['all', 'skills']) {
      const stream = await openStream(platform.mcpUrl, { key: text, session });
      await workspace.updateKey(id, { disclosure });
      await stream.closed;
      const again = await openStream(platform.mcpUrl, { key: text, session });
      await until(() => again.messages.some(({ method }) => method === 'notifications/tools/list_changed'));
      expect(await listed()).toEqual(disclosure === 'all' ? [...constantNames, ...own] : constantNames);
      again.close();
    }
  });
});

describe('an MCP server that is not Connected (part 3 of the specification, rule 1)', () => {
  const reason = { code: 'exited', message: 'It exited with 1: no token', repair: 'Set CRM_TOKEN.' };

  test('removes its tools from all skills that reference it, and explains the cause and the repair', async () => {
    const session = await openWith(`skillIds=${skills.selling},${skills.reading}`);
    const stream = await openStream(platform.mcpUrl, { key, session });
    expect(await names(session)).toEqual(['find_deal', 'read_file', 'search_files']);
    const nextRetryAt = Date.now() + 60_000;
    await platform.runtime.report(servers.crm, { status: 'Error', health: 'red', reason, nextRetryAt });
    await until(() => stream.messages.length > 0);
    expect(await names(session)).toEqual(['read_file', 'search_files']);
    const why =
      /MCP server "crm" is Error: It exited with 1: no token\. The next attempt is in \d+ s\. Repair: Set CRM_TOKEN\./;
    expect(await say(session, 'list_skills')).toMatch(why);
    expect(await say(session, 'list_skills')).toContain('"reading" (role "Reader"): Read documents\n  Available');
    for (const [name, args] of [
      ['find_deal', {}],
      ['call_tool', { name: 'find_deal' }],
      ['load_skill', { skill: 'selling' }],
    ] as const) {
      const { result } = await call(session, name, args);
      expect(result.isError).toBe(true);
      expect(JSON.stringify(result.content)).toMatch(/MCP server \\"crm\\" is Error[\s\S]*Repair: Set CRM_TOKEN/);
    }
    // A tool of a Connected MCP server stays callable through another skill, although one skill lacks it.
    expect((await call(session, 'read_file')).result.isError).toBeUndefined();
    expect(platform.runtime.calls.at(-1)).toMatchObject({ mcpServer: servers.files });
    await platform.runtime.report(servers.crm);
    await until(async () => (await names(session)).length === 3);
    stream.close();
  });

  test('is noticed at once when its runtime ends', async () => {
    const other = await platform.connectRuntime();
    const session = await openWith(`skillIds=${skills.reading}`);
    const stream = await openStream(platform.mcpUrl, { key, session });
    expect(await names(session)).toHaveLength(2);
    await other.report(servers.crm);
    await platform.runtime.report(servers.files, { status: 'Disconnected' });
    await until(async () => (await names(session)).length === 0);
    expect(await say(session, 'list_skills')).toMatch(/MCP server "files" is Disconnected/);
    const sent = platform.runtime.calls.length;
    const { result } = await call(session, 'read_file');
    expect([result.isError, result.content[0].text]).toEqual([
      true,
      expect.stringMatching(/MCP server "files" is Disconnected/),
    ]);
    expect(platform.runtime.calls).toHaveLength(sent);
    await platform.runtime.report(servers.files);
    await until(async () => (await names(session)).length === 2);
    await other.stop();
    stream.close();
  });
});

test('a missing tool of a skill is named, and the others stay', async () => {
  const skill = await workspace.skill('partly', ['files/read_file', 'files/not_there']);
  const role = await workspace.role('Partly', [skill]);
  const { text } = await workspace.key('partly', { roles: [role] });
  const session = await openSession(platform.mcpUrl, text);
  const ask = async (name: string, args: object) =>
    (await send(platform.mcpUrl, { key: text, session, body: rpc('tools/call', { name, arguments: args }) })).body
      .result;
  await until(async () => /1 skill\./.test((await ask('list_skills', {})).content[0].text));
  expect((await ask('list_skills', {})).content[0].text).toMatch(/"files\/not_there" is not offered[\s\S]*Repair:/);
  const loaded = await ask('load_skill', { skill: 'partly' });
  expect(loaded.isError).toBeUndefined();
  expect(JSON.stringify(loaded.content)).toMatch(/read_file[\s\S]*not_there/);
});
