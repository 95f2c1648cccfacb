import { sizeText } from '../../stack/machine/size-text.ts';
import type { Moved } from '../../stack/operations/move/move.ts';
import type { MovePlan } from '../../stack/operations/move/plan-move.ts';
import type { Loss } from '../../stack/operations/replace/end-replacement.ts';
import { graphElsewhere } from '../../stack/operations/replace/fill-places.ts';
import type { ReplaceProgress, ReplaceStep } from '../../stack/operations/replace/replace.ts';
import { isSameBus, isSameGraph, type Side, sideName } from '../../stack/operations/replace/side.ts';
import type { ProgressList } from './progress-list.ts';

/** The planned actions, printed before they begin. */
export function describePlan(plan: MovePlan): string {
  const { from, to, changes, isUp, neededBytes, freeBytes } = plan;
  const room = freeBytes === null ? 'the disk does not say' : sizeText(freeBytes);
  return [
    `Moves from ${sideName(from.definition)} to ${sideName(to.definition)}:`,
    ...changes.map(({ path, from: before, to: after }) => `  svc.yaml   ${path.join('.')}: ${before} → ${after}`),
    `  graph      ${aboutGraph(plan)}`,
    `  bus        ${aboutBus(plan)}`,
    !isUp
      ? '  downtime   none: the platform does not run'
      : `  downtime   up to about ${plan.downSeconds} s, from its stop to its start${foreground(plan)}`,
    ...aboutServers(plan),
    `  kept       data/before-move-…, until svc move --confirm or svc move --undo`,
    `  disk       needs ${sizeText(neededBytes)}, free: ${room}`,
  ].join('\n');
}

function aboutServers({ from, to }: MovePlan): readonly string[] {
  if (from.site.isPrivate === to.site.isPrivate) return [];
  if (!to.site.isPrivate) return ['  runtime    MCP servers run on this machine, with its programs'];
  return [
    "  runtime    MCP servers run in its container, which has node and npx, and nothing of this machine's programs",
    '  folders    MCP servers read those of this machine that runtime.allowedPaths in svc.yaml names, and no others',
  ];
}

function aboutGraph({ from, to, carries, graphBytes }: MovePlan): string {
  const [before, after] = [from.definition, to.definition];
  if (isSameGraph(before, after))
    return `stays the file that it is (${sizeText(graphBytes)}); an archive of it is kept`;
  if (!carries.graph) return `${after.graph} begins empty, as nothing is there yet`;
  const url = graphElsewhere(after);
  const place = to.site.isPrivate ? ' in a volume' : url === null ? '' : ` at ${url}, where it must be empty`;
  return `all of it is carried from ${before.graph} (${sizeText(graphBytes)}) to ${after.graph}${place}`;
}

function aboutBus({ from, to, carries, busBytes }: MovePlan): string {
  if (isSameBus(from.definition, to.definition)) return "stays unchanged, with agents' sessions";
  return carries.bus
    ? `usage not counted yet and agents' sessions are copied (${sizeText(busBytes)} now)`
    : "bus.persistentMessaging is false: agents' sessions end, as at every stop";
}

export function describeMoved({ from, to, moved, kept, downMs }: Moved): string {
  const shown = moved.filter(({ kind }) => kind === 'graph' || kind === 'files' || kind.startsWith('bus.'));
  const kinds = moved.filter(({ kind, count }) => !shown.some((one) => one.kind === kind) && count > 0);
  const down = downMs === null ? '' : ` The platform was down for ${(downMs / 1000).toFixed(1)} s.`;
  return [
    `Moved from ${sideName(from)} to ${sideName(to)}.${down}`,
    ...shown.map(({ kind, count, digest }) => `  ${kind.padEnd(12)} ${String(count).padStart(7)}  sha256 ${digest}`),
    ...(kinds.length === 0 ? [] : [`  in the graph: ${kinds.map(({ kind, count }) => `${kind} ${count}`).join(', ')}`]),
    `The old side is in ${kept}.`,
  ].join('\n');
}

/** The data that going back discards. */
export function describeLoss({ replacement: move, changes, uncounted }: Loss): string {
  const lines = changes.map(({ kind, added, changed, removed }) => {
    const counts = [`${added} new`, `${changed} changed`, `${removed} removed`].filter(
      (text) => !text.startsWith('0 '),
    );
    return `  ${kind}: ${counts.join(', ')}`;
  });
  const isMove = move.command === 'move';
  return [
    `Goes back to ${isMove ? `${sideName(move.from)} with its data` : 'the data'} of ${move.startedAt}. Changes since then are lost:`,
    ...(uncounted === null ? [] : [`  in the graph an unknown amount: ${uncounted}`]),
    ...(lines.length === 0 && uncounted === null ? ['  nothing in the graph'] : lines),
    isMove && isSameBus(move.from, move.to)
      ? '  changes to svc.yaml'
      : '  sessions that agents opened since, usage not counted yet, and changes to svc.yaml',
    isMove
      ? `To keep it, go back by another move: svc move --confirm, then svc move ${flagsFor(move.from)}`
      : 'To keep a copy of it: svc backup',
  ].join('\n');
}

function flagsFor({ topology, graph, engine }: Side): string {
  return `--to ${topology} --graph ${graph} --engine ${engine}`;
}

export function tellProgress(progress: ReplaceProgress, list: ProgressList): void {
  switch (progress.kind) {
    case 'step':
      list.tell({ kind: 'step', text: steps[progress.step] });
      break;
    case 'notice':
    case 'service':
      list.tell(progress);
      break;
    case 'plan':
    case 'ready':
      break;
  }
}

const steps: Readonly<Record<ReplaceStep, string>> = {
  stop: 'stop the platform',
  keep: 'write the data into an archive that is kept',
  fill: 'empty the places of the data and fill them',
  verify: 'compare the data with the archive',
  'write-definition': 'write svc.yaml',
  start: 'start the platform',
};

function foreground({ running }: MovePlan): string {
  return running?.record?.foreground ? '; it runs in the foreground now, and in the background then' : '';
}
