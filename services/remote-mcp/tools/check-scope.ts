import type { Principal } from '../../contracts/bus/messages.ts';
import { SvcError } from '../../contracts/errors.ts';
import type { Tool } from '../catalogue/catalogue.ts';

/** The agent's token has a narrower scope than the call needs. The agent can ask its person for more. */
export class InsufficientScope extends SvcError {
  constructor({ name }: Pick<Tool, 'name'>) {
    super('forbidden', `The tool "${name}" can change things, and this agent may only read.`, {
      hint: 'Ask the person for the scope "tools".',
    });
  }
}

/** Every tool of an MCP server passes here, also one that `call_tool` names. */
export function checkScope({ readOnly }: Principal, tool: Pick<Tool, 'name' | 'isReadOnly'>): void {
  if (readOnly === true && !tool.isReadOnly) throw new InsufficientScope(tool);
}
