import { execFile } from 'node:child_process';
import { mkdir, open, readdir, rename, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { SvcError } from '../../../services/contracts/errors.ts';
import type { Copying, NodePlaces } from '../../graph/fill-nodes.ts';
import { dataOf, graphUrlsOf } from '../../graph/graph-parts.ts';
import { hasNodeData, metaFileOf, walMeta } from '../../graph/node-data.ts';
import { provisionGraph } from '../../graph/provision-graph.ts';
import type { Installation } from '../../installation.ts';
import { readPlan } from '../../lifecycle/plan.ts';
import { stopRunning } from '../../lifecycle/running-platform.ts';
import { findRunning } from '../../state/find-running.ts';

export interface NodesInFolders {
  readonly installation: Installation;
  readonly signal: AbortSignal;
  readonly onNotice: (message: string) => void;
}

/** In data/, for processes. */
export function nodesInFolders({ installation, signal, onNotice }: NodesInFolders): NodePlaces {
  const running = findRunning(installation);
  const services = running === null || running.isAbandoned ? [] : (running.record?.services ?? []);
  return {
    hasData: (node) => hasNodeData(installation, node),
    stateOf: (node) => services.find(({ name }) => name === node)?.state ?? null,
    async change(nodes) {
      const { parts, secrets } = readPlan(installation);
      const urls = graphUrlsOf(parts.filter(({ name }) => nodes.includes(name)));
      await provisionGraph({ urls, caPath: secrets.graphNodeCertificate, secrets, force: true, signal });
    },
    async stop() {
      if (running !== null) await stopRunning(installation, running, { signal, onNotice });
    },
    copy: (copying) => copyNode(installation, copying, signal),
  };
}

/** What says that there is data comes last: until then the data counts as gone. The folder itself stays: a disk may be mounted there. */
async function copyNode(installation: Installation, { from, to }: Copying, signal: AbortSignal): Promise<void> {
  const source = join(installation.dir, dataOf(from));
  const target = join(installation.dir, dataOf(to));
  await mkdir(target, { recursive: true, mode: 0o700 });
  for (const name of await readdir(target)) await rm(join(target, name), { recursive: true });
  const draft = join(target, 'copy');
  await promisify(execFile)('cp', ['-a', source, draft], { signal }).catch((error: unknown) => {
    if (signal.aborted) throw new SvcError('cancelled', 'Interrupted.', { cause: error });
    throw notCopied(source, error);
  });
  const meta = metaFileOf(to);
  await forgetId(join(draft, meta));
  await syncFiles(draft);
  const [last = meta] = meta.split('/');
  const others = (await readdir(draft)).filter((name) => name !== last);
  for (const name of [...others, last]) await rename(join(draft, name), join(target, name));
  await rmdir(draft);
}

function notCopied(source: string, cause: unknown): SvcError {
  const said = cause instanceof Error && 'stderr' in cause ? String(cause.stderr).trim().split('\n').at(-1) : null;
  return new SvcError('unavailable', `"${source}" could not be copied: ${said ?? 'cp did not say why'}.`, {
    hint: 'Mend that, then repeat the command: svc up --start-empty',
    cause,
  });
}

/** Of a data node the coordination nodes know the id by its address; a node of coordination is told its own. */
async function forgetId(metaFile: string): Promise<void> {
  const file = await open(metaFile, 'r+');
  await file.write(Buffer.alloc(walMeta.idBytes), 0, walMeta.idBytes, 0).finally(() => file.close());
}

async function syncFiles(folder: string): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  for (const entry of entries.filter((one) => one.isFile())) {
    const file = await open(join(entry.parentPath, entry.name), 'r+');
    await file.sync().finally(() => file.close());
  }
}
