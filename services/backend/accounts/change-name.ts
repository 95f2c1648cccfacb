import { parsePersonName } from '../../contracts/names.ts';
import { publishEvent } from '../activity/change.ts';
import type { WithBus } from '../bus/with-bus.ts';
import { everyPage } from '../graph/every-page.ts';
import { pageMax, type WithGraph } from '../graph/graph.ts';
import type { TokenPrincipal, UserPrincipal } from '../tokens/verify-token.ts';
import { announceAccount } from './announce-account.ts';
import { getOwnUser, requirePerson } from './own-account.ts';

/** The caller's name, as others see it. */
export async function changeName(backend: WithGraph & WithBus, principal: TokenPrincipal, text: string): Promise<void> {
  const person = requirePerson(principal);
  const name = parsePersonName(text);
  const isChanged = await backend.graph.write(async (transaction) => {
    const user = await getOwnUser(transaction, person);
    if (user.name === name) return false;
    await transaction.update('user', user.id, { name }, { anchor: null });
    return true;
  });
  if (isChanged) await announcePerson(backend, person);
}

/** Every open page of the person's workspaces asks again for what it shows, because it may show the person. */
export async function announcePerson(backend: WithGraph & WithBus, { user }: UserPrincipal): Promise<void> {
  announceAccount(backend, user);
  const where = [{ field: 'user', equals: user }] as const;
  const query = { type: 'member', anchor: 'everywhere', where, limit: pageMax } as const;
  for await (const members of everyPage(backend.graph, query)) {
    for (const { workspace: id } of members) {
      const workspace = await backend.graph.find('workspace', id, null);
      if (workspace !== null) publishEvent(backend.bus, workspace, 'status');
    }
  }
}
