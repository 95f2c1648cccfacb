// Echoes, and reports its environment, its working directory and its parameters as received.
import { serve, text } from './stdio.mjs';

const name = process.argv[2] ?? 'echo';
const tools = ['echo', 'environment', 'params', 'large'].map((tool) => ({
  name: tool,
  inputSchema: { type: 'object' },
}));

serve({
  'tools/list': () => ({ tools }),
  'tools/call': ({ name: tool, arguments: given = {}, ...rest }) => {
    switch (tool) {
      case 'echo':
        return text(`${name}: ${given.text}`);
      case 'environment':
        return text(JSON.stringify({ env: process.env, cwd: process.cwd() }));
      case 'large':
        return text('x'.repeat(given.bytes));
      default:
        return text(JSON.stringify({ given, ...rest }));
    }
  },
});
