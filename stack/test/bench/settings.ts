import { readFile, writeFile } from 'node:fs/promises';
import { replaceScalar } from '../../settings/yaml-text.ts';
import { installationIn } from '../../state/installation.ts';
import { freeBusPorts, freePort } from '../free-ports.ts';

export interface Settings {
  /** Of each service that may be several. */
  readonly replicas: number;
  /** A bus that somebody else runs; else the installation has its own. */
  readonly busUrl?: string;
  /** Of our own NATS and Dgraph, by the fields of `replicas`. */
  readonly nodes?: Readonly<Record<string, number>>;
}

/** Writes them to svc.yaml, with ports that nothing else uses, so that it runs beside an installation of its reader. */
export async function choose(dir: string, { replicas, busUrl, nodes = {} }: Settings): Promise<void> {
  const file = installationIn(dir).definitionFile;
  let text = await readFile(file, 'utf8');
  for (const name of ['backend', 'remote-mcp', 'runtime', 'frontend']) {
    text = replaceScalar(text, ['ports', name], String(await freePort()));
  }
  const counts = { 'remote-mcp': replicas, runtime: replicas, ...nodes };
  for (const [name, count] of Object.entries(counts)) text = replaceScalar(text, ['replicas', name], String(count));
  // What is left on the bus is read from its monitoring.
  if (nodes.nats !== undefined) {
    const { httpPort } = await freeBusPorts(nodes.nats);
    text = replaceScalar(text, ['bus', 'httpPort'], String(httpPort));
  }
  if (busUrl !== undefined) text = replaceScalar(text, ['bus', 'servers'], `[${busUrl}]`);
  await writeFile(file, text);
}
