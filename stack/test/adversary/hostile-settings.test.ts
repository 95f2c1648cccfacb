import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { BackendClient } from '../../client/backend-client.ts';
import { createMcpServerMutation, type LaunchInput } from '../../client/generated/operations.ts';
import { Platform, startTimeoutMs, testTimeoutMs } from '../platform.ts';
import { until } from '../until.ts';
import { memberClient } from './member-token.ts';
import { onEachTopology } from './on-each-topology.ts';

vi.setConfig({ testTimeout: testTimeoutMs });

/**
 * Settings of an MCP server against three attackers: a program that prints what it was given, members who may not
 * read settings, and an admin who enters values that are no values.
 */
const secret = 'sk-3f9c/Nobody+may"read=this';
const line = 'bGluZSB0d28gb2YgYSBrZXkgdGhhdCBpcyBzZWNyZXQ5';
const key = `-----BEGIN KEY-----\n${line}\n-----END KEY-----`;

let platform: Platform;
let operator: BackendClient;
let admin: BackendClient;
let workspace: string;
let count = 0;

// biome-ignore lint/suspicious/noExplicitAny: tests say what they expect of it
const ask = (by: BackendClient, text: string, variables: Readonly<Record<string, unknown>>): Promise<any> =>
  by.send({ text }, variables);

async function add(launch: LaunchInput, by = operator): Promise<string> {
  const input = { name: `settings-${++count}`, launch };
  return (await by.send(createMcpServerMutation, { workspace, input })).createMcpServer.id;
}

/** Every field that could hold a setting. */
const everything = `query ($w: ID!, $id: ID!) { workspace(id: $w) {
  mcpServer(id: $id) { name status stderr reason { code message repair }
    launch { command args cwd url envNames headerNames env { name value } headers { name value }
      settings { name title description isSet } } }
  activity { nodes { action subjectName changes } }
} }`;

async function shownTo(by: BackendClient, id: string): Promise<string> {
  return JSON.stringify(await ask(by, everything, { w: workspace, id }));
}

/** Each value in the forms in which programs write values. */
function formsOf(value: string): readonly string[] {
  const bytes = Buffer.from(value);
  return [
    ...[value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value), bytes.toString('hex')],
    ...[bytes.toString('base64'), bytes.toString('base64url'), Buffer.from(`user:${value}`).toString('base64')],
  ];
}
const hidden = [...formsOf(secret), ...formsOf(line)];

const programs: Readonly<Record<string, string>> = {
  'to standard error': `for (const form of forms) console.error('it is ' + form + ' there'); process.exit(1)`,
  'to standard output, which is for messages': `for (const form of forms) console.log('it is ' + form); process.exit(1)`,
  'byte by byte': `for (const form of forms) { for (const one of form) require('node:fs').writeSync(2, one); require('node:fs').writeSync(2, '\\n'); } process.exit(1)`,
  'at the end of a long line': `for (const form of forms) console.error('x'.repeat(3000) + form); process.exit(1)`,
  'in an answer that is an error': `require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id } = JSON.parse(line);
    console.log(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32000, message: forms.join(' ') } }));
  })`,
  'as the name of an error': `throw Object.assign(new Error(forms.join(' ')), { name: forms[0] })`,
};

const command = { command: 'true', args: [] };
const url = { url: 'https://mcp.example/mcp' };
const env = (name: string, value: string): LaunchInput => ({ ...command, env: [{ name, value }] });
const header = (name: string, value: string): LaunchInput => ({ ...url, headers: [{ name, value }] });
const declared = (setting: object): LaunchInput => ({ ...command, settings: [{ name: 'TOKEN', ...setting }] });
const many = (length: number, name: (index: number) => string) =>
  Array.from({ length }, (_, index) => ({ name: name(index), value: 'v' }));

/** Messages are read in a terminal and in a page. */
const messageMax = 16_384;

onEachTopology(
  (topology) => {
    beforeAll(async () => {
      platform = await Platform.start({ topology });
      operator = await platform.backend();
      const create = 'mutation { createWorkspace(input: { name: "Theirs", ownerEmail: "admin@example.com" }) { id } }';
      workspace = (await ask(operator, create, {})).createWorkspace.id;
      admin = await memberClient(platform, 'admin@example.com');
    }, startTimeoutMs);
    afterAll(() => platform?.[Symbol.asyncDispose](), startTimeoutMs);

    test.each(Object.entries(programs))(
      'a program that prints its settings %s shows them to nobody',
      async (_how, text) => {
        const forms = `[process.env.TOKEN, process.env.KEY.split('\\n')[1]].flatMap((value) => [value,
    JSON.stringify(value).slice(1, -1), encodeURIComponent(value), ...['hex', 'base64', 'base64url'].map((as) => Buffer.from(value).toString(as)),
    Buffer.from('user:' + value).toString('base64')])`;
        const id = await add({
          ...{ command: process.execPath, args: ['-e', `const forms = ${forms}; ${text}`] },
          env: [
            { name: 'TOKEN', value: secret, secret: false },
            { name: 'KEY', value: key },
          ],
          settings: [{ name: 'TOKEN', title: 'Token', secret: true, required: true }],
        });
        await until(async () => {
          const seen = await ask(operator, everything, { w: workspace, id });
          return seen.workspace.mcpServer.status === 'Error';
        });
        const { stdout, stderr } = await platform.run(['logs', '--lines', '100000']);
        const shown = (await Promise.all([operator, admin].map((by) => shownTo(by, id)))).join() + stdout + stderr;
        expect(shown).toContain('[secret]');
        // As text, and as it stands in JSON.
        for (const form of hidden) {
          expect(shown).not.toContain(form);
          expect(shown).not.toContain(JSON.stringify(form).slice(1, -1));
        }
      },
    );

    test.each(['viewer', 'editor'])('the role %s reads no setting, no declaration and no output', async (role) => {
      const email = `${role}@example.com`;
      const invite = `mutation ($w: ID!, $email: String!) { addMember(workspace: $w, input: { email: $email, role: ${role} }) { id } }`;
      await ask(operator, invite, { w: workspace, email });
      const by = await memberClient(platform, email);
      const url = 'https://mcp.example/?key=key-in-the-url';
      const headers = [{ name: 'X-Plain', value: 'plain-value-7', secret: false }];
      const settings = [{ name: 'X-Declared', title: 'Title of the setting', required: false }];
      const id = await add({ url, headers, settings });
      const shown = await shownTo(by, id);
      expect(shown).toContain('"launch":null');
      for (const text of ['key-in-the-url', 'plain-value-7', 'X-Plain', 'X-Declared', 'Title of the']) {
        expect(shown).not.toContain(text);
      }
      const change =
        'mutation ($w: ID!, $id: ID!) { updateMcpServer(workspace: $w, id: $id, input: { launch: { url: "https://evil.example/" } }) { id } }';
      await expect(ask(by, change, { w: workspace, id })).rejects.toMatchObject({ code: 'forbidden' });
    });

    describe('an admin enters', () => {
      test.each<[string, LaunchInput]>([
        ['a zero byte in a value', env('TOKEN', 'a\0b')],
        ['half a character in a value', env('TOKEN', 'a\ud800')],
        ['a newline in the name of a variable', env('TOK\nEN', 'x')],
        ['an assignment as the name of a variable', env('LD_PRELOAD=x', 'x')],
        ['no name', env('', 'x')],
        ['a name that objects lose', env('__proto__', 'x')],
        ['a header that objects lose', header('__proto__', 'x')],
        ['half a character in an argument', { command: 'true', args: ['\ud800'] }],
        ['a name of 256 letters', env('N'.repeat(256), 'x')],
        ['a name of 100,000 letters', env('N'.repeat(100_000), 'x')],
        ['a value of 1 MB', env('TOKEN', 'x'.repeat(1_000_000))],
        ['a header that goes on in a second line', header('X-Token', 'a\r\nX-Injected: b')],
        ['a header with a newline in its name', header('X-Token: a\r\nX-Injected', 'b')],
        ['a header with letters outside of Latin-1', header('X-Token', 'a\u202eb')],
        ['a header of the connection', header('Content-Length', '1')],
        ['a variable twice', { ...command, env: [...many(2, () => 'TOKEN')] }],
        ['twenty thousand variables', { ...command, env: many(20_000, (index) => `V${index}`) }],
        ['five thousand wrong variables', { ...command, env: many(5000, (index) => `V ${index}`) }],
        ['five thousand headers', { ...url, headers: many(5000, (index) => `x-${index}`) }],
        ['a title that hides letters', declared({ title: 'Token\u202e' })],
        ['a title of two lines', declared({ title: 'Token\nforged' })],
        ['a description of 1 MB', declared({ description: 'x'.repeat(1_000_000) })],
        ['a description that a terminal executes', declared({ description: '\u001b]52;c;eA==\u0007' })],
        [
          'five thousand declarations',
          { ...command, settings: many(5000, (index) => `D${index}`).map(({ name }) => ({ name })) },
        ],
        ['a declaration that objects lose', { ...command, settings: [{ name: '__proto__' }] }],
        ['a declaration whose name is no name', { ...command, settings: [{ name: 'TOKEN ' }] }],
      ])('%s: it is refused at once, in a short message', async (_what, launch) => {
        const before = performance.now();
        const error = await add(launch, admin).catch((thrown) => thrown);
        expect(error).toMatchObject({
          code: 'invalid_input',
          message: expect.stringMatching(/^The launch is not valid: /),
        });
        expect(performance.now() - before).toBeLessThan(5000);
        expect(error.message.length).toBeLessThan(messageMax);
      });

      test('a value of many lines, which is kept whole and shown to nobody', async () => {
        const id = await add({ ...command, env: [{ name: 'KEY', value: key }] }, admin);
        const shown = await shownTo(admin, id);
        expect(shown).toContain('{"name":"KEY","value":null}');
        expect(shown).not.toContain(line);
      });
    });
  },
  { isLong: true },
);
