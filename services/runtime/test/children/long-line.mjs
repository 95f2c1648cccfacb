// Answers with a line of the requested size in MB.
import { serve } from './stdio.mjs';

const block = Buffer.alloc(1024 * 1024, 'x');

serve({
  'tools/call': async ({ arguments: { megabytes } }, id) => {
    const write = (part) => new Promise((resolve) => process.stdout.write(part, resolve));
    await write(`{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"`);
    for (let i = 0; i < megabytes; i++) await write(block);
    await write('"}]}}\n');
    return undefined;
  },
});
