import type { Terminal } from '../output/terminal.ts';
import { fetchMembers, isAgent, type KeyOfMember, type Member } from './members.ts';
import type { Tenancy } from './platform.ts';

/** Asks at a terminal who gets the API keys of a member who is removed. Null: they are revoked. */
export async function chooseHeir(
  terminal: Terminal,
  { backend, workspace }: Tenancy,
  { member, keys }: { readonly member: Member; readonly keys: readonly KeyOfMember[] },
): Promise<Member | null> {
  const count = keys.filter((key) => !isAgent(key)).length;
  if (count === 0 || !terminal.interactive) return null;
  const members = await fetchMembers(backend, workspace.id);
  const heirs = members.filter(({ id, suspended }) => id !== member.id && !suspended);
  if (heirs.length === 0) return null;
  const { select } = await import('@inquirer/prompts');
  const message = `What becomes of the ${count === 1 ? 'API key' : `${count} API keys`} of ${member.person.email}?`;
  const choices = [
    { value: null, name: 'Revoke: the agents lose access' },
    ...heirs.map((heir) => ({ value: heir, name: `Give to ${heir.person.email}: the agents go on` })),
  ];
  return await select<Member | null>({ message, choices }, { output: process.stderr });
}
