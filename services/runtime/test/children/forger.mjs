// Writes terminal sequences into each of its texts: names, descriptions, last output and answers.
import { send, serve, text } from './stdio.mjs';

const [, , mode, ...attacks] = process.argv;
const all = attacks.join('');

if (mode === 'exits') {
  process.stderr.write(`${attacks.join('\n')}\n`);
  process.exit(3);
}
serve({
  initialize: ({ protocolVersion }, id) => {
    if (mode === 'refuses') {
      send({ id, error: { code: -32603, message: all } });
      return undefined;
    }
    return {
      protocolVersion,
      capabilities: { tools: { listChanged: true } },
      serverInfo: { name: all, title: all, version: all },
      instructions: all,
    };
  },
  'tools/list': () => ({
    // A name with a control character is left out, and its reason quotes it; the tool's other texts are shown under
    // another name.
    tools: attacks.flatMap((attack, index) =>
      [`tool-${index}${attack}`, `plain-${index}`].map((name) => ({
        name,
        title: attack,
        description: `Does it.${attack}`,
        inputSchema: { type: 'object', properties: { [attack]: { type: 'string', description: attack } } },
      })),
    ),
  }),
  'tools/call': () => ({ ...text(all), isError: true }),
});
