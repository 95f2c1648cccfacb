import type { Launch } from '../../contracts/bus/messages.ts';
import { SvcError } from '../../contracts/errors.ts';

/** Commands that MCP servers may run (MCP_SERVER_COMMANDS): the same for every caller, operators included. */
export type CommandRule =
  | { readonly kind: 'any' }
  | { readonly kind: 'none' }
  | { readonly kind: 'list'; readonly commands: readonly string[] };

export function parseCommandRule(text: string): CommandRule {
  if (text === 'any' || text === 'none') return { kind: text };
  return { kind: 'list', commands: text.split(',').flatMap((name) => (name.trim() === '' ? [] : [name.trim()])) };
}

/**
 * Throws `forbidden` when the installation does not allow the launch's command. A command is compared as written: with
 * `npx` allowed, `/tmp/npx` is not; and the search path of `npx` may not be set.
 */
export function checkCommand(rule: CommandRule, launch: Launch): void {
  const refusal = findRefusal(rule, launch);
  if (refusal === null) return;
  throw new SvcError('forbidden', refusal, { hint: howToAllow });
}

export const howToAllow =
  'The operator of the installation can change runtime.commands in svc.yaml (MCP_SERVER_COMMANDS).';

/** Why a launch is not allowed, or null when it is. */
export function findRefusal(rule: CommandRule, launch: Launch): string | null {
  if (launch.kind === 'http' || rule.kind === 'any') return null;
  if (rule.kind === 'none') return refusal('MCP servers may not run commands here');
  if (!rule.commands.includes(launch.command)) {
    return refusal(`the command "${launch.command.slice(0, 200)}" is not one of ${rule.commands.join(', ')}`);
  }
  return 'PATH' in launch.env ? refusal('where commands are listed, an MCP server may not set PATH') : null;
}

function refusal(why: string): string {
  return `Refused by the setting runtime.commands: ${why}.`;
}
