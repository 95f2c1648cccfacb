// Writes the requested lines before it answers. `@id` and `@token` in them stand for those of the call.
import { serve, text } from './stdio.mjs';

serve({
  'tools/call': ({ arguments: { lines = [] }, _meta }, id) => {
    const [ownId, ownToken] = [JSON.stringify(id), JSON.stringify(_meta?.progressToken)];
    for (const line of lines)
      process.stdout.write(`${line.replaceAll('"@id"', ownId).replaceAll('"@token"', ownToken)}\n`);
    return text(String(process.pid));
  },
});
