import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Assigned } from '../../contracts/bus/messages.ts';
import type { WorkspaceId } from '../../contracts/ids.ts';
import { startTestBackend, type TestBackend } from './start-test-backend.ts';
import { connectCloudRuntime, type TestRuntime } from './test-runtime.ts';

let backend: TestBackend;
let cloud: TestRuntime;
let w: WorkspaceId;
let member: string;
let editor: string;
let operator: string;
let count = 0;

beforeAll(async () => {
  backend = await startTestBackend();
  cloud = await connectCloudRuntime(backend);
  const { createWorkspace } = await backend.must(
    'mutation { createWorkspace(input: { name: "W", ownerEmail: "owner@localhost" }) { id } }',
  );
  w = createWorkspace.id;
  ({ token: member } = await backend.addMember(w, 'admin'));
  ({ token: editor } = await backend.addMember(w, 'editor'));
  operator = await backend.operatorToken();
  await backend.must('mutation ($w: ID!) { registerRuntime(workspace: $w, name: "theirs") { secret } }', { w });
});
afterAll(() => backend.stop());

const shown = 'version launch { setBy env { name value } headers { name value } }';
const token = { name: 'TOKEN', value: 'operators-token' };
const log = { name: 'LOG', value: 'debug', secret: false };
const launch = { command: 'npx', args: ['server'], env: [token, log] };
const keepToken = { name: 'TOKEN' };
const keepLog = { name: 'LOG' };

interface Added {
  readonly id: string;
  readonly name: string;
}

async function add(by: string, given: object = launch): Promise<Added> {
  const name = `s${++count}`;
  const query = 'mutation ($w: ID!, $input: McpServerInput!) { createMcpServer(workspace: $w, input: $input) { id } }';
  const { data, code } = await backend.ask({ query, variables: { w, input: { name, launch: given } }, token: by });
  expect(code).toBe(null);
  return { id: data.createMcpServer.id, name };
}

const change = (by: string, { id }: Added, input: object) =>
  backend.ask({
    query: `mutation ($w: ID!, $id: ID!, $input: McpServerPatch!) {
      updateMcpServer(workspace: $w, id: $id, input: $input) { ${shown} } }`,
    variables: { w, id, input },
    token: by,
  });

async function assigned({ name }: Added): Promise<Assigned | undefined> {
  const { assignments } = await cloud.shakeHands(undefined, undefined, { confinesMembers: true });
  return assignments?.find((one) => one.name === name);
}

const judge = (by: string, { id, name }: Added, given: object) =>
  backend.ask({
    query: `query ($w: ID!, $id: ID!, $name: String, $launch: LaunchInput!) { workspace(id: $w) {
      launchFingerprint(launch: $launch, mcpServer: $name)
      launchRefusal(launch: $launch, mcpServer: $name)
      mcpServer(id: $id) { changedSettings(launch: $launch) launch { fingerprint } }
    } }`,
    variables: { w, id, name, launch: given },
    token: by,
  });

const settingsQuery = `query ($w: ID!, $id: ID!, $launch: LaunchInput!) {
  workspace(id: $w) { mcpServer(id: $id) { changedSettings(launch: $launch) } }
}`;

describe('a setting', () => {
  test('is shown if it is plain, also when the value is not given again', async () => {
    const one = await add(operator);
    const { data } = await change(operator, one, {
      launch: { ...launch, args: ['other'], env: [keepToken, { name: 'LOG', value: null }] },
    });
    expect(data.updateMcpServer.launch).toEqual({
      setBy: 'operator',
      env: [
        { name: 'LOG', value: 'debug' },
        { name: 'TOKEN', value: null },
      ],
      headers: [],
    });
    expect(await assigned(one)).toEqual(
      expect.objectContaining({
        launch: {
          kind: 'child',
          command: 'npx',
          args: ['other'],
          cwd: null,
          env: { TOKEN: 'operators-token', LOG: 'debug' },
        },
      }),
    );
    // Only the launch goes to runtimes.
    expect(await assigned(one)).not.toHaveProperty('plain');
  });

  test('of a URL is kept by its name in any case', async () => {
    const one = await add(operator, {
      url: 'http://x.example/mcp',
      headers: [
        { name: 'X-Team', value: 'blue', secret: false },
        { name: 'Authorization', value: 'Bearer x' },
      ],
    });
    const { data } = await change(operator, one, {
      launch: { url: 'http://y.example/mcp', headers: [{ name: 'AUTHORIZATION' }, { name: 'x-team' }] },
    });
    expect(data.updateMcpServer.launch.headers).toEqual([
      { name: 'authorization', value: null },
      { name: 'x-team', value: 'blue' },
    ]);
    expect(await assigned(one)).toMatchObject({ launch: { headers: { authorization: 'Bearer x', 'x-team': 'blue' } } });
  });

  test('is hidden from now on without a restart, and never shown again', async () => {
    const one = await add(operator);
    const before = await assigned(one);
    const hidden = await change(operator, one, {
      launch: { ...launch, env: [keepToken, { name: 'LOG', secret: true }] },
    });
    expect(hidden.data.updateMcpServer.version).toBe(2);
    expect(hidden.data.updateMcpServer.launch.env).toContainEqual({ name: 'LOG', value: null });
    expect((await assigned(one))?.configVersion).toBe(before?.configVersion);
    for (const by of [operator, member]) {
      const back = await change(by, one, { launch: { ...launch, env: [token, { name: 'LOG', secret: false }] } });
      expect(back.code).toBe('forbidden');
      expect(JSON.stringify(back)).not.toContain('debug');
    }
    const theirs = await add(member);
    expect(
      (await change(member, theirs, { launch: { ...launch, env: [{ name: 'TOKEN', secret: false }] } })).errors[0],
    ).toMatchObject({ message: 'A stored secret value is never shown: "TOKEN".' });
  });

  test.each([
    ['a new name', { ...launch, env: [{ name: 'OTHER' }, keepToken] }, /no stored value to keep in "env" for "OTHER"/],
    ['a name of Object', { ...launch, env: [{ name: '__proto__' }] }, /no stored value to keep in "env"/],
    [
      'a variable as a header',
      { url: 'http://x', headers: [keepToken] },
      /no stored value to keep in "headers" for "TOKEN"/,
    ],
  ])('that has no stored value is refused: %s', async (_what, given, message) => {
    const refused = await change(operator, await add(operator), { launch: given });
    expect(refused.errors[0]).toMatchObject({
      message: expect.stringMatching(message),
      extensions: { code: 'invalid_input' },
    });
  });

  test('of a new MCP server needs its value', async () => {
    const query =
      'mutation ($w: ID!, $launch: LaunchInput!) { createMcpServer(workspace: $w, input: { name: "new", launch: $launch }) { id } }';
    const { errors } = await backend.ask({
      query,
      variables: { w, launch: { ...launch, env: [keepToken] } },
      token: operator,
    });
    expect(errors[0]).toMatchObject({
      message: expect.stringContaining('"TOKEN" in "env" has no value'),
      extensions: { code: 'invalid_input' },
    });
  });

  test('is recorded by its name, and that it is plain', async () => {
    const one = await add(operator);
    await change(operator, one, { launch: { ...launch, env: [{ ...token, value: 'another-token' }, keepLog] } });
    const query = 'query ($w: ID!) { workspace(id: $w) { activity(first: 2) { nodes { changes } } } }';
    const { workspace } = await backend.must(query, { w });
    const [update, create] = workspace.activity.nodes.map(({ changes }: { changes: string }) => JSON.parse(changes));
    expect(update).toEqual({ settings: 'changed', newValues: { from: null, to: ['TOKEN'] } });
    expect(create.plainSettings).toEqual({ from: [], to: ['LOG'] });
    expect(JSON.stringify([update, create])).not.toMatch(/debug|token"|operators-token/);
  });
});

describe('a secret that an operator set', () => {
  test.each([
    ['another command', { launch: { ...launch, command: 'sh', env: [keepToken] } }],
    ['another argument', { launch: { ...launch, args: ['--print'], env: [keepToken, keepLog] } }],
    ['the same command', { launch: { ...launch, env: [keepToken, keepLog] } }],
    ['a runtime of theirs', { runtime: 'theirs' }],
    ['a runtime of theirs, with the same command', { runtime: 'theirs', launch: { ...launch, env: [keepToken] } }],
  ])('does not go to %s that a member chose', async (_what, input) => {
    const one = await add(operator);
    const before = await assigned(one);
    const refused = await change(member, one, input);
    expect(refused.errors[0]).toMatchObject({
      message: `An operator set the launch of the MCP server "${one.name}", and only an operator may use its secret values: "TOKEN".`,
      extensions: { code: 'forbidden', hint: expect.stringContaining('new values') },
    });
    expect(JSON.stringify(refused)).not.toContain('operators-token');
    expect(await assigned(one)).toEqual(before);
    expect((await change(operator, one, input)).code).toBe(null);
  });

  test('does not go to a URL that a member chose', async () => {
    const one = await add(operator, { url: 'http://x.example/mcp', headers: [{ name: 'X-Key', value: 'k' }] });
    const input = { launch: { url: 'http://evil.example/mcp', headers: [{ name: 'X-Key' }] } };
    expect((await change(member, one, input)).code).toBe('forbidden');
  });

  test('may be replaced by a member, and a plain value may be kept', async () => {
    const one = await add(operator);
    const env = [{ name: 'TOKEN', value: 'members-token' }, keepLog];
    const { code, data } = await change(member, one, { launch: { ...launch, command: 'sh', env } });
    expect(code).toBe(null);
    expect(data.updateMcpServer.launch.setBy).toBe('member');
    expect(await assigned(one)).toMatchObject({
      setBy: 'member',
      launch: { command: 'sh', env: { TOKEN: 'members-token', LOG: 'debug' } },
    });
    // From now on it is the members' own.
    expect((await change(member, one, { launch: { ...launch, env: [keepToken] }, runtime: 'theirs' })).code).toBe(null);
  });

  test('is not guessed with the check of a launch', async () => {
    const one = await add(operator);
    for (const env of [[keepToken, keepLog], [token]]) {
      const given = { ...launch, env };
      expect((await judge(member, one, given)).code).toBe('forbidden');
      // Alone, because a refused field hides the refusals of others.
      const answer = await backend.ask({
        query: settingsQuery,
        variables: { w, id: one.id, launch: given },
        token: member,
      });
      expect(answer.errors.map(({ path }) => path?.at(-1))).toEqual(['changedSettings']);
    }
    const theirs = await add(member);
    expect((await judge(member, theirs, launch)).data.workspace.mcpServer.changedSettings).toEqual([]);
    expect((await judge(editor, theirs, launch)).code).toBe('forbidden');
  });
});

test('the check of a launch names the settings that would change', async () => {
  const one = await add(operator);
  const ask = async (given: object) => (await judge(operator, one, given)).data.workspace;
  const same = await ask({ ...launch, env: [keepToken, keepLog] });
  expect(same.mcpServer.changedSettings).toEqual([]);
  expect(same.launchFingerprint).toBe(same.mcpServer.launch.fingerprint);
  const given = await ask(launch);
  expect(given.launchFingerprint).toBe(same.launchFingerprint);
  const other = await ask({
    ...launch,
    env: [
      { ...token, value: 'x' },
      { name: 'NEW', value: '1' },
    ],
  });
  expect(other.mcpServer.changedSettings).toEqual(['env.LOG', 'env.NEW', 'env.TOKEN']);
  expect(other.launchFingerprint).not.toBe(same.launchFingerprint);
  const hidden = await ask({ ...launch, env: [keepToken, { name: 'LOG', secret: true }] });
  expect(hidden.mcpServer.changedSettings).toEqual(['env.LOG']);
  const url = await ask({ url: 'http://x.example/', headers: [{ name: 'X-Key', value: 'k' }] });
  expect(url.mcpServer.changedSettings).toEqual(['env.LOG', 'env.TOKEN', 'headers.x-key']);
});
