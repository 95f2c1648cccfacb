// Waits as many milliseconds as the file says before it answers.
import { readFileSync } from 'node:fs';
import { serve } from './stdio.mjs';

const [file] = process.argv.slice(2);
setTimeout(serve, Number(readFileSync(file, 'utf8')));
