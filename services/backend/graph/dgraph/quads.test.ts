import { expect, it } from 'vitest';
import { allOf, edgeQuad, nQuads, quad, wholeNode } from './quads.ts';

it('writes each kind of statement as N-Quads', () => {
  const text = nQuads([
    quad('_:role_1', 'role.name', 'Admin'),
    quad('0x1', 'role.version', -2),
    quad('0x1', 'role.enabled', false),
    edgeQuad('0x1', 'role.skills', '_:skill_1'),
    allOf('0x2', 'role.name'),
    wholeNode('0x3'),
  ]);
  expect(text.split('\n')).toEqual([
    '_:role_1 <role.name> "Admin"^^<xs:string> .',
    '<0x1> <role.version> "-2"^^<xs:int> .',
    '<0x1> <role.enabled> "false"^^<xs:boolean> .',
    '<0x1> <role.skills> _:skill_1 .',
    '<0x2> <role.name> * .',
    '<0x3> * * .',
  ]);
});

it.each(['', '"', '\\', 'a\nb\r\t', '\u0001', '*', '" .\n<0x1> * * .', '_STAR_ALL', 'uid(0x1)', '\u{1f600}'])(
  'keeps the text %j within its statement',
  (text) => {
    const [line, ...others] = nQuads([quad('0x1', 'role.name', text)]).split('\n');
    expect(others).toEqual([]);
    expect(line).toMatch(/^<0x1> <role\.name> "(\\.|[^"\\\r\n])*"\^\^<xs:string> \.$/);
    expect(JSON.parse(line?.slice('<0x1> <role.name> '.length, -'^^<xs:string> .'.length) ?? '')).toBe(text);
  },
);
