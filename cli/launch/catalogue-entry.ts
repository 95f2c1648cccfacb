import { declaredSettings } from '../../services/contracts/declared-settings.ts';
import { suggestion } from '../../services/contracts/did-you-mean.ts';
import { SvcError } from '../../services/contracts/errors.ts';
import {
  type Blank,
  type CatalogueEntry,
  emptyBlanks,
  type Filled,
  launchOfEntry,
  mcpServerCatalogue,
} from '../../services/contracts/mcp-server-catalogue.ts';
import { type SettingsField, settingKey } from '../../services/contracts/setting-rules.ts';
import type { LaunchInput, Setting } from '../../stack/client/generated/operations.ts';
import type { Terminal } from '../output/terminal.ts';
import { askSecret } from '../typed/ask-secret.ts';
import { askText } from '../typed/ask-text.ts';
import { declaredAfter } from './required-settings.ts';

export const catalogueNames: readonly string[] = mcpServerCatalogue.map(({ name }) => name);

/** The entry that --from names. */
export function catalogueEntry(typed: string): CatalogueEntry {
  const found = mcpServerCatalogue.find(({ name }) => name === typed);
  if (found !== undefined) return found;
  throw new SvcError('invalid_input', `The catalogue has no "${typed}". ${suggestion(typed, catalogueNames)}`);
}

export function settingsFieldOf({ launch }: CatalogueEntry): SettingsField {
  return launch.kind === 'url' ? 'headers' : 'env';
}

/** The values of --fill, by blank. */
export function filledBlanks({ name, blanks }: CatalogueEntry, typed: readonly string[]): Filled {
  return new Map(
    typed.map((word) => {
      const at = word.indexOf('=');
      const blank = word.slice(0, at === -1 ? undefined : at);
      if (!blanks.some((one) => one.name === blank)) {
        const names = blanks.map((one) => one.name).join(', ');
        throw new SvcError('invalid_input', `The catalogue entry "${name}" has no blank "${blank}".`, {
          hint: names === '' ? 'It has no blanks.' : `It has: ${names}.`,
        });
      }
      if (at === -1) throw new SvcError('invalid_input', `--fill takes NAME=VALUE, such as ${blank}=VALUE.`);
      return [blank, word.slice(at + 1)];
    }),
  );
}

type Asking = Pick<Terminal, 'interactive'>;

export interface EntryValues {
  readonly filled: Filled;
  /** The values of --env or --header. */
  readonly given: readonly Setting[];
  readonly required: readonly string[];
}

/** The launch of an entry. Asks a person for what it still needs. A required secret may follow later. */
export async function launchFromEntry(
  entry: CatalogueEntry,
  { filled, given, required }: EntryValues,
  terminal: Asking,
): Promise<LaunchInput> {
  const blanks = new Map(filled);
  for (const blank of emptyBlanks(entry, filled)) blanks.set(blank.name, await fillIn(entry, blank, terminal));
  const field = settingsFieldOf(entry);
  const values = [...given, ...(await askRequired(entry, { given, terminal }))];
  const declared = declaredSettings(field, entry.settings);
  const settings = declaredAfter({ field, declared, stored: null, given: values, required, unset: [] });
  return { ...launchOfEntry(entry, blanks), [field]: values, settings };
}

async function fillIn(entry: CatalogueEntry, blank: Blank, terminal: Asking): Promise<string> {
  const { name, title, description } = blank;
  const typed = terminal.interactive ? await askText(`${title} (${description})`) : '';
  if (typed !== '') return typed;
  const names = emptyBlanks(entry, new Map()).map((one) => `--fill ${one.name}=VALUE`);
  throw new SvcError('invalid_input', `The catalogue entry "${entry.name}" needs a value of "${name}".`, {
    hint: `${description} Type it as: svc server add --from ${entry.name} ${names.join(' ')}`,
  });
}

async function askRequired(
  entry: CatalogueEntry,
  { given, terminal }: { readonly given: readonly Setting[]; readonly terminal: Asking },
): Promise<readonly Setting[]> {
  if (!terminal.interactive) return [];
  const field = settingsFieldOf(entry);
  const known = new Set(given.map(({ name }) => settingKey(field, name)));
  const asked: Setting[] = [];
  for (const { name, title, description, secret, required } of entry.settings) {
    if (required === false || known.has(settingKey(field, name))) continue;
    const question = `${title ?? name}: ${description ?? ''} Empty: later`;
    const value = secret === false ? await askText(question) : await askSecret(question);
    if (value !== '') asked.push({ name, value, secret: secret ?? true });
  }
  return asked;
}
