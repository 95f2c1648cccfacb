// Lists its tools page by page, one to a page; every call adds one and reports the change several times.
import { echo, send, serve, text } from './stdio.mjs';

let count = 2;

serve({
  'tools/list': ({ cursor = '0' }) => {
    const at = Number(cursor);
    const page = { tools: [{ ...echo, name: `tool_${at}` }] };
    return at + 1 < count ? { ...page, nextCursor: String(at + 1) } : page;
  },
  'tools/call': () => {
    count++;
    for (let i = 0; i < 5; i++) send({ method: 'notifications/tools/list_changed' });
    return text(String(count));
  },
});
