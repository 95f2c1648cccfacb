// Takes its time: as many milliseconds as the file says, until it can be spoken to.
import { readFileSync } from 'node:fs';
import { serve } from './stdio.mjs';

const [file] = process.argv.slice(2);
setTimeout(serve, Number(readFileSync(file, 'utf8')));
