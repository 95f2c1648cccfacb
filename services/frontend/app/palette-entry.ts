import type { IconName } from '../components/icon.tsx';

/** One line of the palette. */
export interface PaletteEntry {
  /** Unique in the palette. */
  readonly id: string;
  readonly title: string;
  /** Tells apart what has the same name, such as the MCP server of a tool. */
  readonly detail?: string;
  readonly icon: IconName;
  readonly keys?: string;
  readonly isCurrent?: boolean;
  readonly run: () => unknown;
  /** The palette stays open, because the entry only begins something. */
  readonly staysOpen?: true;
}

export interface PaletteGroup {
  readonly title: string;
  readonly entries: readonly PaletteEntry[];
}

/** Each word must begin a word of title or detail; case and accents do not count. The backend searches by the same rule. */
export function entriesNamed(groups: readonly PaletteGroup[], text: string): readonly PaletteGroup[] {
  const sought = wordsOf(text);
  const matches = ({ title, detail = '' }: PaletteEntry) => {
    const words = wordsOf(`${title} ${detail}`);
    return sought.every((start) => words.some((word) => word.startsWith(start)));
  };
  return groups.map(({ title, entries }) => ({ title, entries: entries.filter(matches) })).filter(hasEntries);
}

export function hasEntries({ entries }: PaletteGroup): boolean {
  return entries.length > 0;
}

function wordsOf(text: string): string[] {
  return text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
}
