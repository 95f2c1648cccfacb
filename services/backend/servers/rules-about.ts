import { parseId } from '../../contracts/ids.ts';
import { rulesOfRoleMax } from '../../contracts/workspace-limits.ts';
import { everyPage } from '../graph/every-page.ts';
import { type Node, pageMax, type Transaction } from '../graph/graph.ts';

/** The rules of one role about an MCP server. */
export interface RulesOfRole {
  readonly role: Node<'role'>;
  readonly lost: readonly Node<'toolRule'>[];
  /** Whether the role has no other rule that allows, so that its loss would allow every tool. */
  readonly widens: boolean;
}

/** The roles that have rules about an MCP server. */
export async function rulesAbout(
  transaction: Transaction,
  { id, workspace: anchor }: Node<'mcpServer'>,
): Promise<readonly RulesOfRole[]> {
  const where = [{ field: 'mcpServer' as const, equals: id }];
  const rules: Node<'toolRule'>[] = [];
  for await (const page of everyPage(transaction, { type: 'toolRule', anchor, where, limit: pageMax })) {
    rules.push(...page);
  }
  const roles: RulesOfRole[] = [];
  for (const [text, lost] of Map.groupBy(rules, ({ role }) => role)) {
    const role = await transaction.find('role', parseId('role', text), anchor);
    if (role === null) continue;
    const options = { anchor, limitEach: rulesOfRoleMax };
    const ends = await transaction.followBack({ from: 'toolRule', edge: 'of' }, [role.id], options);
    const allows = (ends.get(role.id) ?? []).filter(({ effect }) => effect === 'allow');
    roles.push({ role, lost, widens: allows.length > 0 && allows.every(({ mcpServer }) => mcpServer === id) });
  }
  return roles;
}
