// Ends in the middle of a call, with output on standard error.
import { serve, text } from './stdio.mjs';

serve({
  'tools/call': ({ arguments: { text: said } }) => {
    if (said !== 'crash') return text(said);
    process.stderr.write(`the token is ${process.env.TOKEN}\nit all went wrong\n`);
    process.exit(7);
  },
});
