import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { fillGraph, recordOf } from '../../../stack/test/bench/fill-graph.ts';
import { foreignServers } from '../../../stack/test/foreign-servers.ts';
import { Platform } from '../../../stack/test/platform.ts';
import { roleNode, skillNode, toolNode } from '../../backend/graph/contract/sample-nodes.contract.ts';
import { overflowOf, SignedInBrowser } from './signed-in-browser.ts';

/**
 * `SVC_TEST_SCREENS=FOLDER node services/frontend/test/screens.ts`, after a build: writes a picture of each place, with
 * 5,000 rows and long names, empty and refused, in both themes at three widths. People look at them; nothing compares them.
 */
const folder = process.env.SVC_TEST_SCREENS;
if (folder === undefined) throw new Error('SVC_TEST_SCREENS must name a folder for the pictures.');
await mkdir(folder, { recursive: true });

const skillCount = 5000;
const roleCount = 400;
const toolCount = 500;
const memberCount = 40;
const longName = 'a-name-as-long-as-the-longest-one-that-the-platform-takes-from-us';
const longText =
  'Reads the tickets of the last week, sums them up by customer, and says which of them need an answer. ';

await using setup = new AsyncDisposableStack();
const platform = setup.use(await Platform.start());
await platform.addServer('everything', foreignServers.everything);
// It never becomes Connected.
await platform.run(['server', 'add', longName.slice(0, 60), '--', 'false']);
await platform.addSkill('echo-with-care', ['everything/echo']);
await platform.addRole('Support', ['echo-with-care']);
const { id: emptyWorkspace } = await platform.svc('workspace', 'create', 'Empty', '--owner-email', 'owner@localhost');
const backend = await platform.backend();
const workspace = await platform.workspace();
for (let i = 0; i < memberCount; i++) {
  const email =
    i === 0 ? `${'long.address.'.repeat(4)}name@${'department.'.repeat(4)}example.com` : `person-${i}@example.com`;
  const text =
    'mutation ($w: ID!, $e: String!) { addMember(workspace: $w, input: { email: $e, role: editor }) { id } }';
  await backend.send({ text }, { w: workspace, e: email });
}
for (const name of ['cellar', longName.slice(0, 60)]) {
  const text = 'mutation ($w: ID!, $n: String!) { registerRuntime(workspace: $w, name: $n) { secret } }';
  await backend.send({ text }, { w: workspace, n: name });
}
for (const name of ['laptop', 'A key with a name that says exactly where it is used']) await platform.addKey(name);
await fillGraph(platform, async function* nodes({ workspace: owner, mcpServer }) {
  for (let i = 0; i < skillCount; i++) {
    const name = i % 7 === 0 ? `${longName.slice(0, 58)}-${i}` : `skill-${i}`;
    yield recordOf('skill', skillNode(owner, { name, description: longText.repeat(i % 7 === 0 ? 5 : 1) }));
  }
  for (let i = 0; i < roleCount; i++) {
    const name = i % 5 === 0 ? `Role of a department with a long name, number ${i}` : `Role ${i}`;
    yield recordOf('role', roleNode(owner, { name, description: longText }));
  }
  for (let i = 0; i < toolCount; i++) {
    yield recordOf('tool', toolNode(owner, { originalName: `${longName}_${i}`.replaceAll('-', '_'), mcpServer }));
  }
});

await using browser = await SignedInBrowser.open(platform);
// The browser ends the platform with itself.
setup.move();
// As text: its module belongs to the browser.
const listed = await readFile(join(import.meta.dirname, '../app/places.ts'), 'utf8');
const paths = new Set([...listed.matchAll(/to: '\/w\/\$workspace([^']*)'/g)].map(([, path = '']) => path));
const adding = ['/skills', '/roles', '/settings/members', '/settings/mcp-servers', '/profile/api-keys'];

for (const width of [1440, 820, 390]) {
  for (const colorScheme of ['light', 'dark'] as const) {
    const context = await browser.newContextOfOwner({ width, colorScheme });
    const page = await context.newPage();
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    const take = async (name: string) => {
      await page.waitForTimeout(600);
      const overflow = await overflowOf(page);
      if (overflow !== 0) process.stdout.write(`${name} at ${width}: ${overflow} pixels too wide\n`);
      await page.screenshot({ path: join(folder, `${width}-${colorScheme}-${name}.png`) });
    };
    for (const path of paths) {
      const name = path === '' ? 'home' : path.slice(1).replaceAll('/', '-');
      await openPlace(page, workspace, path);
      await take(name);
      await openPlace(page, emptyWorkspace, path);
      await take(`${name}-empty`);
      // Each state below in one of both themes.
      if ((width === 390) !== (colorScheme === 'dark')) continue;
      await takeRefused(page, path, () => take(`${name}-refused`));
      if (adding.includes(path)) {
        await openPlace(page, workspace, `${path}?add=true`);
        await take(`${name}-add`);
      }
      await openPlace(page, workspace, path);
      // A click on the matrix of roles changes one.
      if (path === '/roles') continue;
      const row = page.getByRole('row').nth(1);
      if ((await row.count()) > 0) {
        await row.click();
        await take(`${name}-open`);
      }
    }
    await openPlace(page, workspace, '');
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search' }).waitFor();
    await take('palette');
    await page.keyboard.type('a');
    await page.waitForTimeout(600);
    await take('palette-found');
    await context.close();
  }
}

async function openPlace(page: Page, id: string, path: string): Promise<void> {
  await page.goto(`${browser.origin}/w/${id}${path}`);
  await page.getByRole('heading', { level: 1 }).waitFor();
}

/** The backend refuses what the place asks, but not who the person is. */
async function takeRefused(page: Page, path: string, take: () => Promise<void>): Promise<void> {
  await page.route('**/graphql', async (route) => {
    if (/query (Viewer|OpenedWorkspace)\b/.test(route.request().postDataJSON().query)) return await route.continue();
    const extensions = { code: 'unavailable', hint: 'Try again in a minute.', request: 'req_0Vc9w4pT0001bRkT2SmX7d' };
    await route.fulfill({
      json: { errors: [{ message: `The graph does not answer. ${longText}`, extensions }] },
      headers: { 'access-control-allow-origin': browser.origin, 'access-control-allow-credentials': 'true' },
    });
  });
  await openPlace(page, workspace, path);
  await take();
  await page.unroute('**/graphql');
}
