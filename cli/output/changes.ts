import { diff } from 'node:util';
import { oneLine } from '../../services/contracts/one-line.ts';
import type { Change } from '../../stack/apply/apply.ts';
import type { Difference, Shown } from '../../stack/apply/plan-changes.ts';
import type { LeftOut } from '../../stack/skills/skill-folder.ts';
import type { Terminal } from './terminal.ts';

const signs = { create: '+', update: '~', delete: '-', none: ' ' } as const;
const colours = { create: 'green', update: 'yellow', delete: 'red', none: 'grey' } as const;
export const kindNames = { mcpServer: 'MCP server', skill: 'skill', role: 'role' } as const;

/** One line for each object, and for an update a line for each value that changes. */
export function describeChange({ kind, name, action, differences }: Change, { paint }: Pick<Terminal, 'paint'>) {
  const head = `${paint(colours[action], signs[action])} ${kindNames[kind]} ${oneLine(name)}`;
  return [head, ...differences.flatMap((one) => describeDifference(one, paint))].join('\n');
}

/** What was changed, or with `dryRun` would be. */
export function tellChanges(changes: readonly Change[], dryRun: boolean, terminal: Terminal): void {
  const made = changes.filter((change) => change.action !== 'none');
  for (const change of made) terminal.result(describeChange(change, terminal));
  const same = changes.length - made.length;
  const kept = same === 0 ? '' : ` ${same} ${same === 1 ? 'is unchanged' : 'are unchanged'}.`;
  if (made.length > 0) terminal.result(`${made.length} ${dryRun ? 'would change' : 'changed'}.${kept}`);
  else terminal.result(same > 0 ? `Nothing changes:${kept}` : 'The files name nothing, so nothing changes.');
}

/** What folders of skills hold and the platform does not take. */
export function tellLeftOut(leftOut: readonly LeftOut[], terminal: Terminal): void {
  for (const { place, why } of leftOut.slice(0, leftOutShownMax)) {
    terminal.warn(`Left out: ${oneLine(place)} (${oneLine(why)})`);
  }
  if (leftOut.length > leftOutShownMax) terminal.warn(`Left out: ${leftOut.length - leftOutShownMax} more`);
}

const leftOutShownMax = 20;

type Paint = Terminal['paint'];

function describeDifference({ field, from, to }: Difference, paint: Paint): readonly string[] {
  if (isList(from) || isList(to)) return [`    ${field}:`, ...describeSets(from, to, paint)];
  const texts = [from, to].map((value) => (typeof value === 'string' ? value : ''));
  if (texts.some((text) => text.includes('\n'))) return [`    ${field}:`, ...describeLines(texts, paint)];
  if (from === '[secret]' && to === '[secret]') return [`    ${field}: [secret], a new value`];
  return [`    ${field}: ${shown(from)} → ${shown(to)}`];
}

function describeSets(from: Shown, to: Shown, paint: Paint): readonly string[] {
  const before = new Set(isList(from) ? from : []);
  const after = new Set(isList(to) ? to : []);
  return [
    ...[...after.difference(before)].map((item) => paint('green', `      + ${oneLine(item)}`)),
    ...[...before.difference(after)].map((item) => paint('red', `      - ${oneLine(item)}`)),
  ];
}

const linesShownMax = 40;
/** The comparison takes time that grows with the square of the lines. */
const linesComparedMax = 2000;

function describeLines([before = '', after = '']: readonly string[], paint: Paint): readonly string[] {
  const [was, is] = [before.split('\n'), after.split('\n')];
  if (was.length + is.length > linesComparedMax) return [`      ${was.length} lines → ${is.length} lines`];
  const lines = diff(is, was).flatMap(([operation, line]) => {
    if (operation === 0) return [];
    return [operation === 1 ? paint('green', `      + ${line}`) : paint('red', `      - ${line}`)];
  });
  const left = lines.length - linesShownMax;
  return left > 0 ? [...lines.slice(0, linesShownMax), `      … and ${left} more lines`] : lines;
}

function shown(value: Shown): string {
  if (value === null || value === '') return 'nothing';
  if (value === '[secret]') return value;
  return typeof value === 'string' ? JSON.stringify(oneLine(value)) : String(value);
}

function isList(value: Shown): value is readonly string[] {
  return Array.isArray(value);
}
