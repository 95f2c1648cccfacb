import { SvcError } from '../../services/contracts/errors.ts';
import { offerFirstKey } from '../connect/first-key.ts';
import { endsPrompt } from '../error-to-terminal.ts';
import type { Tenancy } from '../objects/platform.ts';
import type { Terminal } from '../output/terminal.ts';
import { type Shared, share, wantsShare } from './share.ts';

export interface AddedServer {
  readonly name: string;
  /** What --share has made. */
  readonly shared: Shared | null;
  /** Finds the address for agents. */
  readonly address: () => Promise<URL>;
}

/** Offers a person what an agent still needs for the tools of a new MCP server: a role with them, then a key. */
export async function offerUse(tenancy: Tenancy, added: AddedServer, terminal: Terminal): Promise<void> {
  const { name, address } = added;
  let done = 'added';
  try {
    const shared = added.shared ?? ((await wantsShare(name, terminal)) ? await share(tenancy, name) : null);
    if (shared === null) {
      terminal.talk(`\nNext, put tools into a skill: svc skill create NAME --tool ${name}/TOOL`);
      return;
    }
    done = 'added and shared';
    terminal.talk(`\nAgents may use its tools by the skill ${shared.skill} in the role ${shared.role}.`);
    if (await offerFirstKey(tenancy, address, terminal)) return;
    terminal.talk('Next, a key for an agent: svc keys create NAME');
  } catch (error) {
    if (!endsPrompt(error)) throw error;
    throw new SvcError('cancelled', `Interrupted. The MCP server ${name} stays ${done}.`);
  }
}
