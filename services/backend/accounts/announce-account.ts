import { subjects } from '../../contracts/bus/subjects.ts';
import type { UserId } from '../../contracts/ids.ts';
import type { WithBus } from '../bus/with-bus.ts';

const nothing = new Uint8Array();

/**
 * Every backend looks at the open pages of this person again, and every remote-mcp at the tokens to try tools. A lost
 * message only delays that.
 */
export function announceAccount({ bus }: WithBus, user: UserId): void {
  bus.publish(subjects.account(user), nothing);
}
