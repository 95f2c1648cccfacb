import { Mutation, NQuad, Request, Value } from 'dgraph-js';
import { expect, it } from 'vitest';
import { changeRequest } from './change-request.ts';
import { allOf, edgeQuad, type Quad, quad, wholeNode } from './quads.ts';

const texts = [
  '',
  'a',
  ' é"\\\n',
  '\u0001',
  'uid(0x1)',
  '_STAR_ALL',
  '\u{1f600}\u{10ffff}',
  'ü'.repeat(64),
  'x'.repeat(300_000),
];
const powers = Array.from({ length: 53 }, (_, i) => 2 ** (i + 1) - 1);
const numbers = [0, ...powers, ...powers.map((power) => power + 1), ...powers.map((power) => -power), -1];
const values: readonly (string | number | boolean)[] = [...texts, ...numbers.filter(Number.isSafeInteger), true, false];
const set: readonly Quad[] = [
  ...values.map((value) => quad('_:skill_1', 'skill.name', value)),
  edgeQuad('0x1', 'role.skills', '0xffffffffffffffff'),
];
const remove: readonly Quad[] = [wholeNode('0x2'), allOf('0x3', 'skill.name'), edgeQuad('0x4', 'role.skills', '0x5')];

it.each([
  ['of its own', { startTs: 0, hash: '', commitNow: true, set, remove }],
  ['of a transaction', { startTs: Number.MAX_SAFE_INTEGER, hash: 'Zé', commitNow: false, set: [], remove }],
  ['of thousands', { startTs: 128, hash: 'Z', commitNow: false, set: Array(4000).fill(set[1]), remove: [] }],
  ['of nothing', { startTs: 1, hash: '', commitNow: false, set: [], remove: [] }],
])('the bytes of a change %s are those that the client of Dgraph writes, and it reads them', (_, change) => {
  const expected = new Request();
  const mutation = new Mutation();
  mutation.setSetList(change.set.map(toNQuad));
  mutation.setDelList(change.remove.map(toNQuad));
  expected.setMutationsList([mutation]);
  expected.setStartTs(change.startTs);
  expected.setHash(change.hash);
  expected.setCommitNow(change.commitNow);
  const bytes = changeRequest(change);
  expect(bytes.equals(expected.serializeBinary())).toBe(true);
  expect(Request.deserializeBinary(bytes).toObject()).toEqual(expected.toObject());
});

function toNQuad(quad: Quad): NQuad {
  const made = new NQuad();
  made.setSubject(quad.subject);
  made.setPredicate(quad.predicate);
  if (quad.kind === 'edge') made.setObjectId(quad.target);
  else made.setObjectValue(toValue(quad));
  return made;
}

function toValue(quad: Exclude<Quad, { kind: 'edge' }>): Value {
  const made = new Value();
  if (quad.kind === 'every') made.setDefaultVal('_STAR_ALL');
  else if (typeof quad.value === 'string') made.setStrVal(quad.value);
  else if (typeof quad.value === 'number') made.setIntVal(quad.value);
  else made.setBoolVal(quad.value);
  return made;
}
