import { expect, test } from 'vitest';
import { containerNameOf, idIn } from './names.ts';

test('the name of a container says of which installation it is', () => {
  for (const part of ['nats', 'remote-mcp-2']) {
    const name = containerNameOf(part, { id: 'abcdef0123456789' });
    expect([name, idIn(name, part)]).toEqual([`svc-abcdef0123456789-${part}`, 'abcdef0123456789']);
  }
});
