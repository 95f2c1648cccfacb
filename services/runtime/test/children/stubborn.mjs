// Ignores the end of its input and SIGTERM.
import { serve, text } from './stdio.mjs';

process.on('SIGTERM', () => {});
setInterval(() => {}, 1000);
serve({ 'tools/call': () => text(String(process.pid)) });
