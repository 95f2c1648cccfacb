import type { ArchiveContent } from '../../stack/content/archive.ts';
import { sizeText } from '../../stack/machine/size-text.ts';

/** Node types shown to people, with their names. */
const shown: readonly (readonly [kind: string, one: string])[] = [
  ['workspace', 'workspace'],
  ['mcpServer', 'MCP server'],
  ['skill', 'skill'],
  ['role', 'role'],
  ['key', 'API key'],
];

/** How much an archive holds. */
export function describeContent({ graph, files }: ArchiveContent): string {
  const counts = shown.map(([kind, one]) => counted(graph.find((found) => found.kind === kind)?.count ?? 0, one));
  return [...counts, `${counted(files.count, 'file')} (${sizeText(files.bytes)})`].join(', ');
}

/** What a backup leaves out, which a person must keep elsewhere. */
export function notInside({ encryptionKey }: ArchiveContent['head']): string {
  return [
    `Not inside: secrets/ (the key that opens its secrets is secrets/encryption.key, fingerprint ${encryptionKey}), svc.yaml,`,
    'sessions of agents, the last seconds of usage, logs, and what MCP servers keep in folders of their own.',
  ].join('\n');
}

function counted(count: number, one: string): string {
  return `${count} ${one}${count === 1 ? '' : 's'}`;
}
