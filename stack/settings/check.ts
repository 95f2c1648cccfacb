import { readFileSync } from 'node:fs';
import { checkEnv } from '../../services/contracts/env/check.ts';
import { SvcError } from '../../services/contracts/errors.ts';
import { versionInImage } from '../machine/check-program.ts';
import { addressesOf } from './addresses.ts';
import { clusterOfOthers, portsOfNodes } from './check-clusters.ts';
import { wrongPublicHost } from './check-public-host.ts';
import type { Definition } from './definition.ts';
import { alphaMemoryMb } from './dgraph-numbers.ts';
import { isNewDgraph, oldestDgraph } from './dgraph-version.ts';
import { hasOwnGraph } from './has-own-graph.ts';
import { usualPorts } from './ports.ts';
import { readSettings } from './read.ts';
import { placeOf, settings } from './settings.ts';
import { describeMistakes, isMistakes, type Mistake, readYaml, type YamlText } from './yaml-text.ts';

/** A person writes a few hundred lines; a larger file was named by mistake. */
const definitionMaxBytes = 1024 * 1024;

export function readDefinition(file: string): Definition {
  return checkDefinition(readFileSync(file, 'utf8'), file);
}

/** The settings in the text, with defaults for missing ones. One error lists every mistake with its place. */
export function checkDefinition(text: string, file: string): Definition {
  if (text.length > definitionMaxBytes) {
    throw new SvcError('too_large', `${file} is longer than ${definitionMaxBytes} bytes.`);
  }
  const read = readYaml(text);
  if (isMistakes(read)) throw mistaken(file, read);
  const mistakes: Mistake[] = [];
  const value = readSettings(settings, read, mistakes);
  // Each leaf was parsed by the rule of its setting; the compiler cannot follow that through the recursion.
  const definition = value as Definition;
  if (mistakes.length === 0) {
    const rules = [
      ...[mailIncomplete, internalAddresses, wrongPublicHost, oneProcessOnly],
      ...[steadyPort, oneBackendOnly, clusterBeside, containersOfParts, notInContainers, dgraphImage],
      ...[clusterOfOthers, portsOfNodes],
    ];
    mistakes.push(...rules.flatMap((rule) => rule(definition, read)));
  }
  if (mistakes.length > 0) throw mistaken(file, mistakes);
  return definition;
}

function mailIncomplete({ mail }: Definition, text: YamlText): readonly Mistake[] {
  if (mail.provider === 'log') return [];
  return (['from', 'url'] as const)
    .filter((name) => mail[name] === undefined)
    .map((name) => ({
      ...text.locate(['mail', 'provider']),
      message: `mail.${name} is required with mail.provider: ${mail.provider}.`,
    }));
}

/** The same rule as in the services, reported with its place in the file. Ports do not matter to it. */
function internalAddresses(definition: Definition, text: YamlText): readonly Mistake[] {
  const { backend, mcp, frontend } = addressesOf(definition, usualPorts).public;
  const addresses = { PUBLIC_BACKEND_URL: backend, PUBLIC_MCP_URL: mcp, PUBLIC_FRONTEND_URL: frontend };
  const { problems } = checkEnv('backend', { NODE_ENV: 'production', ...addresses });
  return problems.flatMap(({ variable, rule }) => {
    const place = Object.hasOwn(addresses, variable) ? placeOf('backend', variable) : undefined;
    return place === undefined ? [] : [{ ...text.locate(place.split('.')), message: `${place} ${rule}.` }];
  });
}

/** Settings that require separate processes. The bus inside the single process has no address. */
function oneProcessOnly({ topology, bus, replicas }: Definition, text: YamlText): readonly Mistake[] {
  if (topology !== 'embedded') return [];
  const more = Object.entries(replicas).filter(([, count]) => count > 1);
  const outside = [
    { field: 'public', isSet: bus.public !== undefined },
    { field: 'servers', isSet: bus.servers !== 'auto' },
  ];
  return [
    ...more.map(([service]) => ({
      ...text.locate(['replicas', service]),
      message: `replicas.${service} above 1 needs topology: distributed. With topology: embedded there is only one process.`,
    })),
    ...outside
      .filter(({ isSet }) => isSet)
      .map(({ field }) => ({
        ...text.locateName(['bus', field]),
        message: `bus.${field} needs topology: distributed. With topology: embedded the bus is inside the single process and not reachable.`,
      })),
  ];
}

/** A container holds one part, and the single process of an embedded platform holds all of them. */
function containersOfParts({ topology, engine }: Definition, text: YamlText): readonly Mistake[] {
  if (engine !== 'docker' || topology === 'distributed') return [];
  return [{ ...text.locate(['engine']), message: 'engine: docker needs topology: distributed.' }];
}

/** A port in the files of runtimes elsewhere must not change when another program takes it. */
function steadyPort({ bus }: Definition, text: YamlText): readonly Mistake[] {
  if (bus.public === undefined || bus.servers !== 'auto' || bus.port !== 'auto') return [];
  const message =
    'bus.public needs a number as bus.port, such as 4222: runtimes elsewhere store the address, and auto may change it.';
  return [{ ...text.locateName(['bus', 'public']), message }];
}

/** Architecture, section 3: SQLite has a single writing process. */
function oneBackendOnly({ graph, replicas }: Definition, text: YamlText): readonly Mistake[] {
  if (replicas.backend === 1 || graph === 'dgraph') return [];
  const message =
    'replicas.backend must be 1 with graph: sqlite: the file has one writer. remote-mcp and runtime can have more.';
  return [{ ...text.locate(['replicas', 'backend']), message }];
}

/** A platform of one process starts no other program. */
function clusterBeside({ topology, graph }: Definition, text: YamlText): readonly Mistake[] {
  if (graph !== 'dgraph' || topology !== 'embedded') return [];
  const message =
    'graph: dgraph needs topology: distributed. With topology: embedded there is only one process, with SQLite.';
  return [{ ...text.locate(['graph']), message }];
}

/** Settings that containers do not support yet. */
function notInContainers(definition: Definition, text: YamlText): readonly Mistake[] {
  const { engine, graph, graphdb, runtime } = definition;
  if (engine !== 'docker') return [];
  const isElsewhere = graph === 'dgraph' && graphdb.url !== 'auto';
  const outside = [
    { path: ['graphdb', 'url'], isSet: isElsewhere, field: 'An external Dgraph' },
    {
      path: ['runtime', 'sandbox'],
      isSet: runtime.sandbox === 'bwrap' || runtime.sandbox === 'container',
      field: `runtime.sandbox: ${runtime.sandbox}`,
    },
  ];
  return outside
    .filter(({ isSet }) => isSet)
    .map(({ path, field }) => ({ ...text.locate(path), message: `${field} needs engine: process in this version.` }));
}

/** The image must be new enough, and the container's memory must exceed the cache. */
function dgraphImage(definition: Definition, text: YamlText): readonly Mistake[] {
  const { engine, images, graphdb, limits } = definition;
  if (engine !== 'docker' || !hasOwnGraph(definition)) return [];
  const neededMb = alphaMemoryMb(graphdb.cacheMb);
  const mistakes: Mistake[] = [];
  if (!isNewDgraph(versionInImage(images.dgraph))) {
    const message = `images.dgraph must be of ${oldestDgraph} or newer, by its tag: older versions have an administration without authentication.`;
    mistakes.push({ ...text.locate(['images', 'dgraph']), message });
  }
  if (limits.memoryMaxMb['dgraph-alpha'] < neededMb) {
    const message = `limits.memoryMaxMb.dgraph-alpha must be at least ${neededMb}: graphdb.cacheMb is ${graphdb.cacheMb}, and 256 more are needed.`;
    mistakes.push({ ...text.locate(['limits', 'memoryMaxMb', 'dgraph-alpha']), message });
  }
  return mistakes;
}

function mistaken(file: string, mistakes: readonly Mistake[]): SvcError {
  return new SvcError('invalid_input', describeMistakes(file, mistakes), {
    hint: 'Show the meaning of each setting: svc config docs',
  });
}
