import { expect, test } from 'vitest';
import { canonicalParameters, withScope } from './canonical-request.ts';

const own = 'https://tools.example/mcp';
const resourcesOf = (...given: string[]) =>
  canonicalParameters(new URLSearchParams(given.map((resource) => ['resource', resource])), own).getAll('resource');

test.each([
  own,
  `${own}/`,
  `${own}?roleIds=a`,
  'https://tools.example',
  'https://tools.example/',
  'HTTPS://TOOLS.example/mcp',
])('%s is the resource', (resource) => {
  expect(resourcesOf(resource)).toEqual([own]);
});

test.each([
  'https://other.example/mcp',
  'http://tools.example/mcp',
  'https://tools.example:8443/mcp',
  'https://tools.example/mcp/x',
  'https://tools.example/mcpx',
  `${own}#x`,
  'no address',
])('%s stays another resource', (resource) => {
  expect(resourcesOf(resource)).toEqual([resource]);
});

test('two ways to write the resource are one resource, and other parameters stay', () => {
  expect(resourcesOf(own, `${own}/`)).toEqual([own]);
  expect(canonicalParameters(new URLSearchParams('a=1&state=x%20y'), own).toString()).toBe('a=1&state=x+y');
});

test.each([
  [undefined, 'tools'],
  ['', 'tools'],
  ['tools:read', 'tools:read'],
  ['tools:read tools', 'tools'],
  ['openid offline_access', 'tools'],
  ['openid tools:read', 'tools:read'],
  ['tools:reader', 'tools'],
])('a request of the scope "%s" is one of "%s"', (asked, meant) => {
  const parameters = withScope(new URLSearchParams(asked === undefined ? {} : { scope: asked }));
  expect(parameters.getAll('scope')).toEqual([meant]);
});
