// Misbehaves in the way that its argument names, and is an MCP server otherwise.
import { echo, send, serve, text } from './stdio.mjs';

const [, , mode = ''] = process.argv;
const megabyte = Buffer.alloc(1024 * 1024, 'x');
const tool = (name) => ({ ...echo, name });
const write = (stream, part) => new Promise((resolve) => stream.write(part, resolve));
const raw = (id, result) => write(process.stdout, `{"jsonrpc":"2.0","id":${id},"result":${result}}\n`);

const lists = {
  names: ['nul\0', 'half\ud83d', 'x'.repeat(1_000_000), 'echo', 'echo', 'line\nbreak', 'escape\u001b[2J'].map(tool),
  many: Array.from({ length: 20_001 }, (_, at) => tool(at === 0 ? 'echo' : `tool-${at}`)),
};

const results = {
  words: 'not json at all',
  open: '{"content":[{"type":"text"',
  crossed: '{"content":[}]',
  twice: '{"content":[]},"id":1,"result":{"content":[]}}{',
  control: '{"content":[{"type":"text","text":"\u0000"}]}',
  deep: `${'['.repeat(100_000)}${']'.repeat(100_000)}`,
};

async function call({ arguments: { text: said }, _meta: meta }, id) {
  if (said in results) return raw(id, results[said]);
  switch (said) {
    case 'large':
    case 'endless': {
      await write(process.stdout, said === 'large' ? `{"jsonrpc":"2.0","id":${id},"result":{"content":"` : 'x');
      for (let count = 0; count < (said === 'large' ? 20 : 32); count++) await write(process.stdout, megabyte);
      await write(process.stdout, '"}}\n');
      return said === 'large' ? undefined : text('done');
    }
    case 'flood':
      for (let progress = 1; progress <= 20_000; progress++) {
        for (const progressToken of [meta?.progressToken, 'stolen', progress]) {
          send({ method: 'notifications/progress', params: { progressToken, progress, message: said } });
        }
        if (progress % 500 === 0) await write(process.stdout, '');
      }
      return text('done');
    case 'stderr':
      for (let count = 0; count < 100; count++) await write(process.stderr, megabyte);
      return text('done');
    default:
      return text(String(said));
  }
}

if (mode === 'stubborn') process.on('SIGTERM', () => {});
if (mode === 'stubborn') setInterval(() => {}, 1000);
serve({ 'tools/list': () => ({ tools: lists[mode] ?? [echo] }), 'tools/call': call });
