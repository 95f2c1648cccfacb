import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { folderOfEachTest } from '../../test/folder-of-each-test.ts';
import { endLeftContainers, findLeftContainers } from './removed-installation.ts';
import { startFakeDaemon } from './test/fake-daemon.ts';

const dir = folderOfEachTest();
const id = 'abcdefgh01234567';

/** A Docker with containers of this id in that folder. It records what is done to them. */
async function openDocker(folder: string) {
  const done: string[] = [];
  const left = new Map(['nats', 'runtime', 'backend'].map((part) => [`id-${part}`, part]));
  const labelsOf = (part: string) => ({ 'svc.installation': id, 'svc.part': part, 'svc.folder': folder });
  const respond = ({ method = '', url = '' }: IncomingMessage): readonly [number, unknown] => {
    const path = decodeURIComponent(url).replace(/^\/v[\d.]+/, '');
    if (path === '/version') return [200, { ApiVersion: '1.45', Components: [] }];
    if (path === '/info') return [200, { ID: 'one', SecurityOptions: [] }];
    if (path.startsWith('/containers/json')) {
      expect(path).toContain(`svc.installation=${id}`);
      return [200, [...left].map(([Id, part]) => ({ Id, Names: [`/svc-${id}-${part}`] }))];
    }
    if (path.startsWith('/volumes') || path.startsWith('/networks'))
      return [200, path.startsWith('/volumes') ? { Volumes: null } : []];
    const [, container = '', verb = ''] = /^\/containers\/([\w-]+)(?:\/(\w+))?/.exec(path) ?? [];
    const part = left.get(container);
    if (part === undefined) return [404, { message: `no ${path}` }];
    if (method === 'GET')
      return [200, { Id: container, Name: `/svc-${id}-${part}`, Image: 'x', Config: { Labels: labelsOf(part) } }];
    done.push(`${method === 'DELETE' ? 'remove' : verb} ${part}`);
    if (method === 'DELETE') left.delete(container);
    return [204, null];
  };
  const daemon = await startFakeDaemon((request: IncomingMessage, response: ServerResponse) => {
    const [status, body] = respond(request);
    response.writeHead(status, { 'content-type': 'application/json' }).end(body === null ? '' : JSON.stringify(body));
  });
  return { ...daemon, done };
}

test('containers of a removed folder are found by their label, and end as their platform would end them', async () => {
  await using docker = await openDocker(join(dir(), 'gone'));
  const names = ['nats', 'runtime', 'backend'].map((part) => `svc-${id}-${part}`);
  expect(await findLeftContainers(docker.socket, id)).toEqual(names);
  expect(await endLeftContainers(docker.socket, id)).toEqual(names);
  expect(docker.done).toEqual(['runtime', 'backend', 'nats'].flatMap((part) => [`stop ${part}`, `remove ${part}`]));
  expect(await findLeftContainers(docker.socket, id)).toEqual([]);
});

test('containers of a folder that holds the installation are left alone', async () => {
  const there = join(dir(), 'there');
  mkdirSync(there);
  writeFileSync(join(there, 'svc.yaml'), `id: ${id}\n`);
  await using docker = await openDocker(there);
  await expect(endLeftContainers(docker.socket, id)).rejects.toMatchObject({
    code: 'conflict',
    hint: `Stop it there: svc down --dir ${there}`,
  });
  expect([docker.done, existsSync(there)]).toEqual([[], true]);
});
