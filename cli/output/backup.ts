import { type ArchiveContent, countsIn } from '../../stack/content/archive.ts';
import { sizeText } from '../../stack/machine/size-text.ts';
import type { RestorePlan } from '../../stack/operations/backup/restore.ts';

/** Node types shown to people, with their names. */
const shown: readonly (readonly [kind: string, one: string])[] = [
  ['workspace', 'workspace'],
  ['mcpServer', 'MCP server'],
  ['skill', 'skill'],
  ['role', 'role'],
  ['key', 'API key'],
];

/** The amount of data in an archive. */
export function describeContent(content: ArchiveContent): string {
  const { head, graph } = content;
  const { files, usage, sessions } = countsIn(content);
  const counts = shown.map(([kind, one]) => counted(graph.find((found) => found.kind === kind)?.count ?? 0, one));
  const onBus = [counted(sessions, 'session'), `${counted(usage, 'usage record')} to be counted`];
  const bus = head.bus === 'none' ? [] : onBus;
  return [...counts, `${counted(files.count, 'file')} (${sizeText(files.bytes)})`, ...bus].join(', ');
}

/** The effects of a restore over data, printed before it begins. */
export function describeRestore({ content, isUp, neededBytes, freeBytes }: RestorePlan): string {
  const room = freeBytes === null ? 'the disk does not say' : sizeText(freeBytes);
  return [
    'Replaces the data of this installation:',
    `  by         the backup of ${content.head.createdAt}: ${describeContent(content)}`,
    '  kept       data/before-restore-…, until svc restore --confirm or svc restore --undo',
    ...(content.secrets.size > 0
      ? ['  keys       those of the archive replace those in secrets/: its maker may know them']
      : []),
    `  downtime   ${isUp ? 'from the stop of the platform to its start' : 'none: the platform does not run'}`,
    `  disk       needs about ${sizeText(neededBytes)}, free: ${room}`,
  ].join('\n');
}

/** Secrets that a backup leaves out and a person must keep elsewhere. */
export function notInside({ head: { encryptionKey, bus }, secrets }: ArchiveContent): string {
  return [
    ...(bus === 'approximate'
      ? [
          'Approximate: sessions and usage to be counted, which changed while they were read. All else is of one moment.',
        ]
      : []),
    secrets.size > 0
      ? 'Inside are the keys of the platform: the passphrase opens all of it. Not inside: svc.yaml,'
      : `Not inside: secrets/ (the key that opens its secrets is secrets/encryption.key, fingerprint ${encryptionKey}), svc.yaml,`,
    `${bus === 'none' ? 'sessions of agents, usage to be counted, ' : ''}logs, and what MCP servers keep in folders of their own.`,
  ].join('\n');
}

function counted(count: number, one: string): string {
  return `${count} ${one}${count === 1 ? '' : 's'}`;
}
