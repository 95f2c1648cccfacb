// Does not end when its input closes, nor on SIGTERM.
import { serve, text } from './stdio.mjs';

process.on('SIGTERM', () => {});
setInterval(() => {}, 1000);
serve({ 'tools/call': () => text(String(process.pid)) });
