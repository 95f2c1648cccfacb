import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { createMcpServerMutation } from '../../../stack/client/generated/operations.ts';
import { foreignServers } from '../../../stack/test/foreign-servers.ts';
import { Platform } from '../../../stack/test/platform.ts';
import { until } from '../../../stack/test/until.ts';
import { startProtectedMcpServer } from '../../backend/test/protected-mcp-server.ts';
import { agentByConsent } from './agent-by-consent.ts';
import { overflowOf, SignedInBrowser } from './signed-in-browser.ts';

/**
 * `SVC_TEST_SCREENS=FOLDER node services/frontend/test/screens-of-states.ts`, after a build: writes a picture of each panel
 * and dialog in its states, and of pages without their connection or the graph, in both themes at three widths.
 */
const folder = process.env.SVC_TEST_SCREENS;
if (folder === undefined) throw new Error('SVC_TEST_SCREENS must name a folder for the pictures.');
await mkdir(folder, { recursive: true });

await using setup = new AsyncDisposableStack();
const settings = (yaml: string) => yaml.replace('allowedAddresses: []', 'allowedAddresses: [127.0.0.1]');
const platform = setup.use(await Platform.start({ settings }));
await using browser = await SignedInBrowser.open(platform);
// The browser ends the platform with itself.
setup.move();
const backend = await platform.backend();
const workspace = await platform.workspace();
const longKey = 'A key with a name that says exactly where it is used and by';

await using cleanup = new AsyncDisposableStack();
const provider = await startProtectedMcpServer({ redirectUri: `${browser.origin}/oauth/callback` });
cleanup.defer(() => provider.stop());
await fill();

async function fill(): Promise<void> {
  const [command = '', ...args] = foreignServers.everything;
  const required = [
    { name: 'TOKEN', title: 'Access token', description: 'From the account page of the service.' },
    { name: 'LEVEL', secret: false, required: false },
  ];
  for (const input of [
    { name: 'crm', launch: { url: provider.url } },
    { name: 'needs-a-token', launch: { command, args, settings: required } },
  ]) {
    await backend.send(createMcpServerMutation, { workspace, input });
  }
  await platform.addServer('everything', foreignServers.everything);
  await platform.addServer('idle', foreignServers.everything);
  await platform.svc('server', 'disable', 'idle');
  await platform.run([
    'server',
    'add',
    'failing',
    '--',
    'node',
    '-e',
    "console.error('No such host.'); process.exit(1)",
  ]);
  await platform.addSkill('greet', ['everything/echo']);
  await platform.addSkill('ask', ['crm/whoami']);
  await platform.addRole('Support', ['greet', 'ask']);
  await platform.svc(
    'role',
    'update',
    'Support',
    '--add-deny',
    'everything/get-env',
    '--add-allow',
    'everything/get-*',
  );
  for (const name of ['laptop', 'rotated', 'old', longKey]) await platform.addKey(name);
  await platform.svc('keys', 'rotate', 'rotated');
  const { id } = await platform.svc('keys', 'show', 'old');
  const expire =
    'mutation ($w: ID!, $id: ID!, $at: Float) { updateKey(workspace: $w, id: $id, input: { expiresAt: $at }) { id } }';
  await backend.send({ text: expire }, { w: workspace, id, at: Date.now() + 1000 });
  await platform.run(['user', 'create', 'ann@example.com', '--role', 'viewer']);
  await platform.svc('user', 'invite', 'bob@example.com', '--role', 'viewer');
  await agentByConsent(platform, browser.page, 'Helper');
  await until(async () => (await platform.run(['server', 'list'])).stdout.includes('uthoriz'));
}

interface State {
  readonly name: string;
  readonly path: string;
  /** The text of the row whose panel is open. */
  readonly row?: string;
  readonly act?: (page: Page) => Promise<unknown>;
}

const press = (name: string) => (page: Page) => page.getByRole('button', { name, exact: true }).last().click();
const showTab = (name: string) => (page: Page) => page.getByRole('tab', { name }).click();
const fillIn = (label: string, text: string) => (page: Page) =>
  page.getByLabel(label, { exact: true }).last().fill(text);
const inOrder =
  (...acts: readonly ((page: Page) => Promise<unknown>)[]) =>
  async (page: Page) => {
    for (const act of acts) await act(page);
  };

const mcpServers = '/settings/mcp-servers';
const keys = '/profile/api-keys';
const agents = '/profile/connected-agents';
const members = '/settings/members';
const inSupport = { path: '/roles', row: 'Support' };

const states: readonly State[] = [
  { name: 'server-connected', path: mcpServers, row: 'everything' },
  { name: 'server-tools', path: mcpServers, row: 'everything', act: showTab('Tools') },
  {
    ...{ name: 'server-tried', path: mcpServers, row: 'everything' },
    act: inOrder(showTab('Tools'), press('Try echo'), fillIn('message', 'Good morning'), press('Run'), (page) =>
      page.getByText('Answered in').waitFor(),
    ),
  },
  {
    ...{ name: 'server-tried-refused', path: mcpServers, row: 'everything' },
    act: inOrder(showTab('Tools'), press('Try get-sum'), press('Run')),
  },
  { name: 'server-configuration', path: mcpServers, row: 'everything', act: showTab('Configuration') },
  { name: 'server-error', path: mcpServers, row: 'failing' },
  { name: 'server-error-tools', path: mcpServers, row: 'failing', act: showTab('Tools') },
  { name: 'server-authorization', path: mcpServers, row: 'crm' },
  { name: 'server-settings-missing', path: mcpServers, row: 'needs-a-token' },
  { name: 'server-off', path: mcpServers, row: 'idle' },
  { name: 'server-remove', path: mcpServers, row: 'everything', act: press('Remove…') },
  { name: 'server-unknown', path: `${mcpServers}?panel=srv_unknown` },
  { name: 'server-panel-refused', path: mcpServers, row: 'everything', act: refusedAgain(/query McpServer\b/) },
  { name: 'integration', path: '/settings/integrations', row: 'crm' },
  { name: 'key', path: keys, row: 'laptop' },
  { name: 'key-explained', path: keys, row: 'laptop', act: showTab('What it can use') },
  { name: 'key-long-name', path: keys, row: longKey },
  { name: 'key-expired', path: keys, row: 'old' },
  { name: 'key-rotated', path: keys, row: 'rotated' },
  { name: 'key-rotate', path: keys, row: 'laptop', act: press('Rotate…') },
  { name: 'key-revoke', path: keys, row: 'laptop', act: press('Revoke…') },
  { name: 'key-unknown', path: `${keys}?panel=key_unknown` },
  {
    ...{ name: 'key-create-refused', path: `${keys}?add=true` },
    act: inOrder(fillIn('Name', 'laptop'), press('Create key')),
  },
  { name: 'agent', path: agents, row: 'Helper' },
  { name: 'agent-explained', path: agents, row: 'Helper', act: showTab('What it can use') },
  { name: 'agent-disconnect', path: agents, row: 'Helper', act: press('Disconnect…') },
  { name: 'role', ...inSupport },
  { name: 'role-rule-typed', ...inSupport, act: (page) => page.getByRole('combobox').last().fill('every') },
  { name: 'role-renamed', ...inSupport, act: fillIn('Name', 'no/name') },
  { name: 'role-remove', ...inSupport, act: press('Remove…') },
  { name: 'role-unknown', path: '/roles?panel=rol_unknown' },
  { name: 'member', path: members, row: 'ann@example.com' },
  { name: 'member-suspend', path: members, row: 'ann@example.com', act: press('Suspend…') },
  { name: 'member-remove', path: members, row: 'ann@example.com', act: press('Remove…') },
  { name: 'invitation', path: members, row: 'bob@example.com' },
  {
    ...{ name: 'invite-refused', path: `${members}?add=true` },
    act: inOrder(fillIn('E-mail addresses', 'nobody, owner@localhost'), press('Send 2 invitations'), (page) =>
      page.getByRole('dialog').getByRole('listitem').first().waitFor(),
    ),
  },
  { name: 'palette', path: '', act: openPalette },
  { name: 'palette-empty', path: '', act: inOrder(openPalette, (page) => page.keyboard.type('no such thing')) },
  {
    ...{ name: 'palette-searching', path: '' },
    act: inOrder(openPalette, hang(/query Found\b/), (page) => page.keyboard.type('zz')),
  },
  {
    name: 'palette-refused',
    path: '',
    act: inOrder(openPalette, refuse(/query Found\b/), (page) => page.keyboard.type('greet')),
  },
  { name: 'shortcuts', path: '', act: (page) => page.keyboard.press('?') },
];

async function openPalette(page: Page): Promise<void> {
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Search' }).waitFor();
}

function hang(query: RegExp) {
  return (page: Page) =>
    page.route('**/graphql', async (route) => {
      if (!query.test(route.request().postDataJSON().query)) await route.continue();
    });
}

/** The backend answers as it does while the graph is away. */
function refuse(query: RegExp) {
  return (page: Page) =>
    page.route('**/graphql', async (route) => {
      if (!query.test(route.request().postDataJSON().query)) return await route.continue();
      const extensions = { code: 'unavailable', hint: 'Try again in a minute.', request: 'req_0Vc9w4pT0001bRkT2SmX7d' };
      await route.fulfill({
        json: { errors: [{ message: 'The graph does not answer.', extensions }] },
        headers: { 'access-control-allow-origin': browser.origin, 'access-control-allow-credentials': 'true' },
      });
    });
}

/** The panel that is open asks anew, and is refused. */
function refusedAgain(query: RegExp) {
  return inOrder(refuse(query), (page) => page.reload());
}

for (const width of [1440, 820, 390]) {
  for (const colorScheme of ['light', 'dark'] as const) {
    // A session of its own: the token of a copied one is renewed by one of its browsers only.
    await using context = await browser.newContext({ width, colorScheme });
    const first = await context.newPage();
    await first.goto(await browser.signInLink());
    await first.waitForURL(/\/w\//);
    await first.close();
    const take = async (page: Page, name: string) => {
      await page.waitForTimeout(700);
      const overflow = await overflowOf(page);
      if (overflow !== 0) process.stdout.write(`${name} at ${width}: ${overflow} pixels too wide\n`);
      await page.screenshot({ path: join(folder, `${width}-${colorScheme}-${name}.png`) });
    };
    for (const state of states) {
      const page = await context.newPage();
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      try {
        await show(page, state);
        await take(page, state.name);
      } catch (error) {
        process.stdout.write(`${state.name} at ${width}: ${String(error).slice(0, 300)}\n`);
      }
      await page.close();
    }
    for (const [name, query] of [
      ['graph-away', /query (?!Viewer|OpenedWorkspace)/],
      ['graph-away-from-all', /query/],
    ] as const) {
      for (const path of ['', '/skills', '/roles', mcpServers, keys, '/profile/account', '/settings/usage']) {
        const page = await context.newPage();
        await refuse(query)(page);
        await page.goto(`${browser.origin}/w/${workspace}${path}`);
        await page.getByRole('alert').first().waitFor();
        await take(page, `${name}${path.replaceAll('/', '-')}`);
        await page.close();
      }
    }
    const lost = await context.newPage();
    let isLost = false;
    await lost.routeWebSocket(/graphql/, (socket) => {
      if (isLost) return void socket.close();
      socket.connectToServer();
      const timer = setInterval(() => isLost && void socket.close().then(() => clearInterval(timer)), 50);
    });
    await lost.goto(`${browser.origin}/w/${workspace}${mcpServers}`);
    await lost.getByRole('row').first().waitFor();
    await lost.waitForTimeout(1000);
    isLost = true;
    await lost.getByText('Reconnecting…').waitFor();
    await take(lost, 'connection-lost');
  }
}

async function show(page: Page, { path, row, act }: State): Promise<void> {
  await page.goto(`${browser.origin}/w/${workspace}${path}`);
  await page.getByRole('heading', { level: 1 }).waitFor();
  if (row !== undefined) {
    if (path === '/roles') await page.getByRole('columnheader', { name: row }).getByRole('button').click();
    else await page.getByRole('row').filter({ hasText: row }).first().click();
    await page.getByRole('complementary').or(page.getByRole('dialog')).first().waitFor();
    await page.waitForTimeout(300);
  }
  await act?.(page);
}
