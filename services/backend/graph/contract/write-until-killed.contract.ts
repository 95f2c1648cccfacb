import { writeSync } from 'node:fs';
import { parseId } from '../../../contracts/ids.ts';
import { type GraphAddress, openAt } from './graph-address.contract.ts';
import { roleNode, skillNode } from './sample-nodes.contract.ts';

/**
 * A separate process: writes transactions to the graph at the address and prints the number of each stored one, until
 * it is killed.
 */
const [address = '', text = ''] = process.argv.slice(2);
const workspace = parseId('workspace', text);
const graph = await openAt(JSON.parse(address) as GraphAddress);

for (;;) {
  const number = await graph.write(async (transaction) => {
    const { revision } = (await transaction.find('workspace', workspace, null)) ?? { revision: Number.NaN };
    const name = String(revision + 1);
    const role = await transaction.create('role', roleNode(workspace, { name }));
    const skill = await transaction.create('skill', skillNode(workspace, { name }));
    await transaction.link({ from: 'role', edge: 'skills' }, role.id, [skill.id]);
    await transaction.update('workspace', workspace, { revision: revision + 1 }, { anchor: null });
    return revision + 1;
  });
  // Written at once: buffered output would be lost with the process.
  writeSync(1, `${number}\n`);
}
