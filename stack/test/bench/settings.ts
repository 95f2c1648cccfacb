import { readFile, writeFile } from 'node:fs/promises';
import { installationIn } from '../../installation.ts';
import { replaceScalar } from '../../yaml-text.ts';
import { freePort } from '../free-ports.ts';

export interface Settings {
  /** Of each service that may be several. */
  readonly replicas: number;
  /** A bus that somebody else runs; else the installation has its own. */
  readonly busUrl?: string;
}

/** Writes them to svc.yaml, with ports that nothing else uses, so that it runs beside an installation of its reader. */
export async function choose(dir: string, { replicas, busUrl }: Settings): Promise<void> {
  const file = installationIn(dir).definitionFile;
  let text = await readFile(file, 'utf8');
  for (const name of ['backend', 'remote-mcp', 'runtime', 'frontend']) {
    text = replaceScalar(text, ['ports', name], String(await freePort()));
  }
  for (const name of ['remote-mcp', 'runtime']) text = replaceScalar(text, ['replicas', name], String(replicas));
  if (busUrl !== undefined) text = replaceScalar(text, ['bus', 'servers'], `[${busUrl}]`);
  await writeFile(file, text);
}
