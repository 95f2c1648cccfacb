// Does not end when its input closes, nor when it is asked to.
import { serve, text } from './stdio.mjs';

process.on('SIGTERM', () => {});
setInterval(() => {}, 1000);
serve({ 'tools/call': () => text(String(process.pid)) });
