import { expandLaunch, type Reference } from '../../services/contracts/clients/read-servers.ts';
import type { Terminal } from '../output/terminal.ts';
import { askSecret } from '../typed/ask-secret.ts';
import type { FoundServer } from './sources.ts';

export interface GivenValues {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Of --variable-file, for variables and inputs. */
  readonly file: Readonly<Record<string, string>>;
}

/** Asks a person once for each value that nothing gives. Without a terminal nothing is asked. */
export class ReferenceValues {
  readonly #given: GivenValues;
  readonly #answers = new Map<string, string>();

  constructor(given: GivenValues) {
    this.#given = given;
  }

  readonly find = ({ kind, name }: Reference): string | undefined => {
    const { env, file } = this.#given;
    if (Object.hasOwn(file, name)) return file[name];
    return this.#answers.get(`${kind} ${name}`) ?? (kind === 'variable' ? env[name] : undefined);
  };

  async ask({ found }: { readonly found: FoundServer }, terminal: Terminal): Promise<void> {
    if (found.entry.kind === 'unreadable' || !terminal.interactive) return;
    const { missing } = expandLaunch(found.entry, { find: this.find, folders: { workspaceFolder: '', userHome: '' } });
    for (const { kind, name } of missing) {
      const asked = kind === 'input' ? (found.inputs.get(name) ?? name) : `Value of the variable ${name}`;
      const answer = await askSecret(asked.slice(0, 200));
      // Without a value, the MCP server is not added.
      if (answer !== '') this.#answers.set(`${kind} ${name}`, answer);
    }
  }
}
