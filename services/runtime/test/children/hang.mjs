// Does not answer calls that say so, and reports which of them were cancelled.
import { serve, text } from './stdio.mjs';

const cancelled = [];
const hanging = new Set();

serve({
  'tools/call': ({ arguments: { text: said } }, id) => {
    if (said === 'cancelled') return text(JSON.stringify(cancelled));
    if (said !== 'hang') return text(said);
    hanging.add(id);
    return undefined;
  },
  'notifications/cancelled': ({ requestId }) => {
    if (hanging.delete(requestId)) cancelled.push('hang');
  },
});
