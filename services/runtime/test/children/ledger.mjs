// Appends its requests to a file that other instances write too, and takes a moment for each.
import { appendFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { serve, text } from './stdio.mjs';

const [file, ...tools] = process.argv.slice(2);

serve({
  'tools/list': () => ({ tools: tools.map((tool) => JSON.parse(tool)) }),
  'tools/call': async ({ arguments: { entry, ms = 10 } }) => {
    appendFileSync(file, `${process.pid} ${entry}\n`);
    await pause(ms);
    return text(`${process.pid} ${entry}`);
  },
});
