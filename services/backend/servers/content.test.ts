import { expect, test } from 'vitest';
import type { Launch } from '../../contracts/bus/messages.ts';
import { newId } from '../../contracts/ids.ts';
import { Secret } from '../../contracts/secret.ts';
import { platformHome } from '../graph/platform-home.ts';

import { openSecrets } from '../secrets/secrets.ts';
import { readWorkingFolders } from './content.ts';
import { encryptLaunch } from './launch.ts';

const key = new Secret('ab'.repeat(32));
const secrets = openSecrets({ present: key, previous: undefined });
const command = (cwd: string | null): Launch => ({ kind: 'child', command: 'node', args: [], cwd, env: {} });

function server(name: string, launch: Launch) {
  const id = newId('mcpServer');
  return {
    id,
    type: 'mcpServer',
    version: 1,
    workspace: null,
    values: { name, launch: encryptLaunch(secrets, id, { launch, setBy: 'operator' }) },
  };
}

function runtime(home: string) {
  return { id: newId('runtime'), type: 'runtime', version: 1, workspace: null, values: { home } };
}

const own = runtime(platformHome);
const elsewhere = runtime('of a workspace');
const here = server('here', command('/srv/documents'));
const bound = server('bound', command('/srv/bound'));
const away = server('away', command('/srv/away'));
const others = [
  server('homely', command(null)),
  server('remote', { kind: 'http', url: 'http://127.0.0.1:9', headers: {} }),
];

async function* each<Item>(...items: readonly Item[]): AsyncGenerator<Item> {
  yield* items;
}

const content = {
  nodes: (type: string) => (type === 'runtime' ? each(own, elsewhere) : each(here, bound, away, ...others)),
  edges: () => each({ source: bound.id, target: own.id }, { source: away.id, target: elsewhere.id }),
};

test("folders are listed for commands with a folder on the platform's own runtimes", async () => {
  expect(await readWorkingFolders(content, key)).toEqual([
    { mcpServer: 'here', folder: '/srv/documents' },
    { mcpServer: 'bound', folder: '/srv/bound' },
  ]);
});

test('without the key nothing is read', async () => {
  await expect(readWorkingFolders(content, new Secret('cd'.repeat(32)))).rejects.toMatchObject({ code: 'unavailable' });
});
