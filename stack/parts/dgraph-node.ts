import type { Definition } from '../settings/definition.ts';
import type { ForeignProgram, Limits } from './part.ts';
import { limitsOf } from './service.ts';
import { fromFolder, type PartFiles, type Setup } from './setup.ts';

/** What both kinds of nodes of Dgraph have in common. */

/** The first start of several nodes holds elections. Dgraph reads a node's files in its own threads. */
export function dgraphLimits(service: 'dgraph-zero' | 'dgraph-alpha', definition: Definition): Limits {
  return { ...limitsOf(service, definition, 300), processesMax: 512 };
}

interface DgraphTraits extends Pick<ForeignProgram, 'askVersion'> {
  readonly node: string;
  readonly write: ForeignProgram['configuration']['write'];
  readonly environment?: Readonly<Record<string, string>>;
}

export function dgraphProgram(
  kind: 'zero' | 'alpha',
  { node, write, environment = {}, ...traits }: DgraphTraits,
): ForeignProgram {
  return {
    ...{ kind: 'foreign', command: 'dgraph', image: 'dgraph' },
    args: (file) => [kind, '--config', file],
    // gRPC would look up a text record for each name. None exists, and in a closed network Docker takes ten seconds to
    // say so.
    environment: { TZ: 'UTC', GRPC_ENABLE_TXT_SERVICE_CONFIG: 'false', ...environment },
    configuration: { name: `${node}.yaml`, write },
    // Its image is Ubuntu's, which contains curl.
    ask: (url) => ['curl', '-sS', '-f', '-m', '4', '-o', '/dev/null', url],
    ...traits,
  };
}

/** The folder of a node, in data/. */
export function graphFolderOf(node: string): string {
  return node.replace('dgraph-', 'dgraph/');
}

/**
 * When other programs of this machine can reach a node, it authenticates other nodes by their key, and itself by the
 * same.
 */
export function certificatesOf(setup: Setup, files: PartFiles): string {
  const { secrets, site } = setup;
  if (site.isPrivate) return '';
  const key = fromFolder(files.give(secrets.graphNodeKey), setup);
  const certificate = fromFolder(files.give(secrets.graphNodeCertificate), setup);
  const shown = ['server', 'client'].map((side) => ` ${side}-cert=${certificate}; ${side}-key=${key};`);
  return ` internal-port=true; ca-cert=${certificate};${shown.join('')}`;
}

/** The data of a node, relative to the installation's folder. */
export function dataOf(node: string): string {
  return `data/${graphFolderOf(node)}`;
}
