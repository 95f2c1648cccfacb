// An MCP server with as many tools as its argument says, for measuring what a long list costs.
import { echo, serve } from '../../../services/runtime/test/children/stdio.mjs';

const count = Number(process.argv[2]);
const pageSize = 1000;

serve({
  'tools/list': ({ cursor = '0' }) => {
    const start = Number(cursor);
    const next = start + pageSize;
    const names = Array.from({ length: Math.min(next, count) - start }, (_, i) => `tool_${start + i}`);
    const tools = names.map((name) => ({ ...echo, name, description: `${name}, as long as a usual description is` }));
    return next < count ? { tools, nextCursor: String(next) } : { tools };
  },
});
