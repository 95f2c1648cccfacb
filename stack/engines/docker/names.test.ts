import { expect, test } from 'vitest';
import { containerNameOf, idIn } from './names.ts';

test('the name of a container has the id of its installation', () => {
  for (const part of ['nats', 'remote-mcp-2']) {
    const container = containerNameOf(part, { id: 'abcdef0123456789' });
    const id = idIn({ services: [{ name: part, container, url: null }] });
    expect([container, id]).toEqual([`svc-abcdef0123456789-${part}`, 'abcdef0123456789']);
  }
});
