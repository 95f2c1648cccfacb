import { expect, it } from 'vitest';
import { newId } from '../../../contracts/ids.ts';
import { keyNode, memberNode, roleNode, settingNode } from './sample-nodes.contract.ts';
import { expectRefusal, type GraphEngine, TestGraph, wrong } from './test-graph.contract.ts';

export function valuesContract(engine: GraphEngine): void {
  it('are returned unchanged', async () => {
    await using test = await TestGraph.open(engine);
    const key = keyNode(test.acme, {
      name: ' "\'`;--\n\r\t\\ é 中 \u{1f600} \ufeff ',
      ciphertext: 'x'.repeat(1_000_000),
      hint: '',
      allRoles: false,
      expiresAt: Number.MAX_SAFE_INTEGER,
      createdAt: Number.MIN_SAFE_INTEGER,
      lastUsedAt: 0,
    });
    const created = await test.add('key', key);
    expect(created).toStrictEqual({ ...key, version: 1 });
    expect(await test.graph.find('key', key.id, test.acme)).toStrictEqual(created);
    const { nodes } = await test.graph.select({ type: 'key', anchor: test.acme, limit: 1 });
    expect(nodes).toStrictEqual([created]);
  });

  it('remain text even if an engine could read them as a statement', async () => {
    await using test = await TestGraph.open(engine);
    const texts = [
      '*',
      '_STAR_ALL',
      'uid(0x1)',
      'val(x)',
      '" .\n<0x1> * * .',
      '\u0001\u2028\u007f',
      "'); --",
      '[1.0]',
      '\\',
    ];
    for (const name of texts) {
      const role = await test.add('role', roleNode(test.acme, { name, description: name }));
      expect(await test.graph.find('role', role.id, test.acme)).toStrictEqual(role);
      expect(await test.graph.findBy('role', { name }, test.acme)).toStrictEqual(role);
    }
    expect(await test.graph.count({ type: 'role', anchor: test.acme, limit: 1 })).toBe(texts.length);
  });

  it('change only if the update names them, including changes to null', async () => {
    await using test = await TestGraph.open(engine);
    const key = keyNode(test.acme, { expiresAt: 5, lastUsedAt: 6, activeName: 'ci' });
    await test.add('key', key);
    const changes = { expiresAt: null, allRoles: false, lastUsedAt: 7, hint: wrong<string>(undefined) };
    const updated = await test.graph.write((transaction) =>
      transaction.update('key', key.id, changes, { anchor: test.acme }),
    );
    expect(updated).toStrictEqual({ ...key, expiresAt: null, allRoles: false, lastUsedAt: 7, version: 2 });
    expect(await test.graph.find('key', key.id, test.acme)).toStrictEqual(updated);
  });

  it('of the wrong kind are refused, in new nodes and in changes', async () => {
    await using test = await TestGraph.open(engine);
    const role = await test.add('role', roleNode(test.acme));
    const refused: [Record<string, unknown>, RegExp][] = [
      [{ name: null }, /"name".*text/],
      [{ name: 1 }, /"name".*text/],
      // Half a surrogate pair would become another character, and NUL ends a text in some engines.
      [{ name: 'a\ud800' }, /well-formed/],
      [{ name: 'a\0b' }, /NUL/],
      [{ enabled: 1 }, /"enabled".*true or false/],
      [{ enabled: null }, /"enabled"/],
      [{ createdAt: 1.5 }, /"createdAt".*whole/],
      [{ createdAt: 2 ** 53 }, /whole/],
      [{ createdAt: Number.NaN }, /whole/],
      [{ createdAt: '1' }, /whole/],
      [{ createdAt: 1n }, /whole/],
      [{ colour: 'red' }, /"colour"/],
    ];
    for (const [values, message] of refused) {
      await expectRefusal(test.add('role', { ...roleNode(test.acme), ...values }), 'invalid_input', message);
      const update = test.graph.write((transaction) =>
        transaction.update('role', role.id, values, { anchor: test.acme }),
      );
      await expectRefusal(update, 'invalid_input', message);
    }
    expect(await test.graph.count({ type: 'role', anchor: test.acme, limit: 1 })).toBe(1);
    expect(await test.graph.find('role', role.id, test.acme)).toEqual(role);
  });

  it('that are missing in a new node are refused', async () => {
    await using test = await TestGraph.open(engine);
    const { description: _description, ...rest } = roleNode(test.acme);
    await expectRefusal(test.add('role', wrong(rest)), 'invalid_input', /"description"/);
    const { workspace: _workspace, ...homeless } = roleNode(test.acme);
    await expectRefusal(test.add('role', wrong(homeless)), 'invalid_input', /workspace/);
  });

  it('of identity never change', async () => {
    await using test = await TestGraph.open(engine);
    const role = await test.add('role', roleNode(test.acme));
    for (const values of [{ id: newId('role') }, { workspace: test.globex }, { version: 7 }]) {
      const update = test.graph.write((transaction) =>
        transaction.update('role', role.id, wrong(values), { anchor: test.acme }),
      );
      await expectRefusal(update, 'invalid_input');
    }
  });

  it('of an id must have the right kind', async () => {
    await using test = await TestGraph.open(engine);
    await expectRefusal(test.add('role', roleNode(test.acme, { id: wrong(newId('skill')) })), 'invalid_input', /role/);
    await expectRefusal(test.add('role', roleNode(test.acme, { id: wrong('rol_1') })), 'invalid_input');
    await expectRefusal(test.add('role', roleNode(wrong('acme'))), 'invalid_input', /workspace/);
  });

  it('of an unknown type are refused', async () => {
    await using test = await TestGraph.open(engine);
    const selection = { type: wrong<'role'>('toString'), anchor: test.acme, limit: 1 };
    await expectRefusal(test.graph.select(selection), 'invalid_input', /"toString"/);
    await expectRefusal(test.graph.find(wrong<'role'>('roles'), newId('role'), test.acme), 'invalid_input', /"roles"/);
    await expectRefusal(test.add(wrong<'setting'>('edge'), settingNode('a')), 'invalid_input', /"edge"/);
    await expectRefusal(test.graph.find('user', newId('user'), wrong(test.acme)), 'invalid_input', /no workspace/);
    await expectRefusal(
      test.add('member', { ...memberNode(test.acme, 'u'), role: wrong(3) }),
      'invalid_input',
      /"role"/,
    );
  });
}
