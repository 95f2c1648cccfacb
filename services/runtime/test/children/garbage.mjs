// Mixes its messages with invalid lines.
import { serve, text } from './stdio.mjs';

process.stdout.write('Welcome!\n\n{"half": \n[1,2]\nnull\n{"jsonrpc":"2.0"}\n\u0000\u0001\n');
serve({
  'tools/call': ({ arguments: { text: said } }) => {
    process.stdout.write(`${'working on it\n'.repeat(Number(said) || 1)}`);
    return text('done');
  },
});
