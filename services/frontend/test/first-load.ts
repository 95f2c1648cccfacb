import { readPage } from '../page.ts';

const importedNames = /(?:from|import)\s*["']\.\/([^"']+\.js)["']/g;

/** The bytes of all JavaScript, compressed by gzip, that a browser without a cache loads for one place. */
export async function firstLoadBytes(placeModule: string): Promise<number> {
  const { index, assets } = await readPage({ backendUrl: null, mcpUrl: 'http://localhost/mcp', keysUrl: null });
  const entry = /src="\/assets\/([^"]+\.js)"/.exec(index.body.toString())?.[1];
  const place = [...assets.keys()].find((path) => path.startsWith(`/assets/${placeModule}-`) && path.endsWith('.js'));
  if (entry === undefined || place === undefined) throw new Error(`The build has no script of "${placeModule}".`);
  const pending = [entry, place.slice('/assets/'.length)];
  const sizes = new Map<string, number>();
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    if (sizes.has(name)) continue;
    const asset = assets.get(`/assets/${name}`);
    const compressed = asset?.encoded.find(({ encoding }) => encoding === 'gzip');
    if (asset === undefined || compressed === undefined) throw new Error(`The build has no "${name}".`);
    sizes.set(name, compressed.body.length);
    for (const [, imported = ''] of asset.body.toString().matchAll(importedNames)) pending.push(imported);
  }
  return [...sizes.values()].reduce((sum, size) => sum + size, 0);
}
