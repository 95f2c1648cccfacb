import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { answering } from '../../stack/test/answering.ts';
import { svcFile } from './run-svc.ts';

/** Packs this package into the folder, and starts a registry on this machine that has nothing else. */
export async function startRegistry(folder: string): Promise<string> {
  const root = join(svcFile, '../..');
  const pack = ['pack', '--ignore-scripts', '--json', '--pack-destination', folder];
  const { stdout } = await promisify(execFile)('npm', pack, { cwd: root, env: { ...process.env, HOME: folder } });
  const [{ filename }] = JSON.parse(stdout);
  const tarball = readFileSync(join(folder, filename));
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`;
  const url = await answering(({ url: path }, response) => {
    if (path === `/${filename}`) return response.end(tarball);
    if (path !== `/${manifest.name}`) return response.writeHead(404).end('{}');
    const { name, version, bin, engines } = manifest;
    const dist = { tarball: `${url}/${filename}`, integrity };
    const versions = { [version]: { name, version, bin, engines, dist } };
    return response.end(JSON.stringify({ name, 'dist-tags': { latest: version }, versions }));
  });
  return url;
}
