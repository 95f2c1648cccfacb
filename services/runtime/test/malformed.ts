/** Every message that an MCP server may send, with a malformed value in each place, one place at a time. */
export function malformedMessages(): readonly string[] {
  return messages.flatMap((message) => malformedValues(message));
}

/** JSON texts of a value in which one part, or all of it, is malformed or missing. */
export function malformedValues(value: unknown): readonly string[] {
  return withMarker(value).flatMap((marked) => odd.map((text) => JSON.stringify(marked).replace(`"${marker}"`, text)));
}

/** `@id` and `@token` stand for those of a running call. */
const messages: readonly unknown[] = [
  { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: '@token', progress: 1, total: 2 } },
  { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', logger: 'x', data: 'x' } },
  { jsonrpc: '2.0', method: 'notifications/tools/list_changed', params: {} },
  { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: '@id', reason: 'x' } },
  { jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri: 'x' } },
  { jsonrpc: '2.0', id: 'q', method: 'ping', params: { _meta: { progressToken: 1 } } },
  { jsonrpc: '2.0', id: 1, method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } },
  { jsonrpc: '2.0', id: 123456789, result: { content: [{ type: 'text', text: 'x' }] } },
  { jsonrpc: '2.0', id: 123456789, error: { code: -1, message: 'x', data: {} } },
  { error: { code: -1, message: 'x' }, id: '@id', jsonrpc: '2.0' },
  { jsonrpc: '2.0', id: '@id', x: 1, result: { content: [{ type: 'text', text: 'x' }] } },
  [
    { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: '@token' } },
    { id: 'q', method: 'x' },
  ],
];

const marker = '@odd';
const deep = 20_000;
const odd: readonly string[] = [
  ...['null', 'true', '0', '-1', '1.5', '1e999', '""', '"x"', '"\\ud800"', '[]', '[[]]', '{}'],
  ...['{"toString":1}', '{"toString":null,"valueOf":null}', '{"__proto__":{"toString":1}}', '{"length":-1}'],
  ...['{"toJSON":1}', '{"then":1}', '{"constructor":null}'],
  '['.repeat(deep) + ']'.repeat(deep),
  `${'{"a":'.repeat(deep)}1${'}'.repeat(deep)}`,
  `"${'x'.repeat(10_000)}"`,
];

/** Copies of the value: one for each place with the marker in it, and one without each member. */
function withMarker(value: unknown): readonly unknown[] {
  if (typeof value !== 'object' || value === null) return [marker];
  const inside = Object.entries(value).flatMap(([name, member]) =>
    withMarker(member).map((marked) => replaceMember(value, name, marked)),
  );
  const without = Object.keys(value).map((name) => replaceMember(value, name, undefined));
  return [marker, ...inside, ...without];
}

function replaceMember(value: object, name: string, member: unknown): unknown {
  return Array.isArray(value) ? value.with(Number(name), member) : { ...value, [name]: member };
}
