import { json } from 'node:stream/consumers';
import { type HttpAttack, httpAttacks, type Target } from './http-attacks.ts';

/** Carries out one attack, and tells what came of it. */
const { attack, target } = (await json(process.stdin)) as { readonly attack: HttpAttack; readonly target: Target };
process.stdout.write(JSON.stringify(await httpAttacks[attack](target)));
process.exit(0);
