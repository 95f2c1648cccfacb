import { isObject } from '../../../services/contracts/is-object.ts';
import type { Definition } from '../../settings/definition.ts';
import { type Path, replaceScalar, YamlText } from '../../settings/yaml-text.ts';
import type { Side } from '../replace/side.ts';

export interface FieldChange {
  readonly path: Path;
  readonly from: string;
  readonly to: string;
}

/** What svc.yaml must say otherwise for the other side: only what has to change. The operator removes public addresses first. */
export function changesFor(definition: Definition, to: Side): readonly FieldChange[] {
  const { servers } = definition.bus;
  const sides = (['topology', 'graph', 'engine'] as const).filter((field) => definition[field] !== to[field]);
  return [
    ...sides.map((field) => ({ path: [field], from: definition[field], to: to[field] })),
    ...withoutMany(definition, to),
    // The content of an external bus moves into the process.
    ...(to.topology === 'embedded' && servers !== 'auto'
      ? [{ path: ['bus', 'servers'], from: servers.join(', '), to: 'auto' }]
      : []),
  ];
}

/** One process is all of each service, and a file has one writer. */
function withoutMany({ replicas }: Definition, { topology, graph }: Side): readonly FieldChange[] {
  const single = [
    ...(graph === 'sqlite' ? (['backend'] as const) : []),
    ...(topology === 'embedded' ? (['remote-mcp', 'runtime'] as const) : []),
  ];
  return single
    .filter((service) => replicas[service] > 1)
    .map((service) => ({ path: ['replicas', service], from: String(replicas[service]), to: '1' }));
}

/** The text with these fields changed, and every other line and comment as it was. */
export function applyChanges(text: string, changes: readonly FieldChange[]): string {
  return changes.reduce((changed, { path, to }) => setField(changed, path, to), text);
}

/** What differs from the default is always there; embedded and sqlite may be left out. */
function setField(text: string, path: Path, value: string): string {
  const { value: fields } = new YamlText(text);
  const [name] = path;
  if (isObject(fields) && String(name) in fields) return replaceScalar(text, path, value);
  return `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${path.join('.')}: ${value}\n`;
}
