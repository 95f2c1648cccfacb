import type { Definition } from './definition.ts';
import { usualDgraphPorts } from './dgraph-numbers.ts';
import { hasOwnBus } from './has-own-bus.ts';
import { hasOwnGraph } from './has-own-graph.ts';
import type { Mistake, YamlText } from './yaml-text.ts';

/** `replicas` of nodes apply only to nodes that `svc up` runs, not to external ones. */
export function clusterOfOthers(definition: Definition, text: YamlText): readonly Mistake[] {
  const { bus, graph, graphdb, replicas, topology } = definition;
  if (topology === 'embedded') return [];
  const complaint = (node: 'nats' | 'dgraph-zero' | 'dgraph-alpha', why: string): readonly Mistake[] =>
    replicas[node] === 1
      ? []
      : [{ ...text.locate(['replicas', node]), message: `replicas.${node} above 1 needs ${why}.` }];
  const ofBus =
    bus.servers === 'auto' ? [] : complaint('nats', "the platform's own bus, but bus.servers names an external one");
  const whyNoGraph =
    graph === 'sqlite' ? 'graph: dgraph' : "the platform's own Dgraph, but graphdb.url names an external one";
  const isOwn = graph === 'dgraph' && graphdb.url === 'auto';
  return isOwn ? ofBus : [...ofBus, ...complaint('dgraph-zero', whyNoGraph), ...complaint('dgraph-alpha', whyNoGraph)];
}

const lastPort = 65_535;
/** Distances from a data node's HTTP port to its highest port, and from a coordination node's port. */
const aboveAlpha = usualDgraphPorts.alpha.grpc - usualDgraphPorts.alpha.http;
const aboveZero = usualDgraphPorts.zero.http - usualDgraphPorts.zero.grpc;

/** When the first node's port is a number, further nodes use the next numbers. */
export function portsOfNodes(definition: Definition, text: YamlText): readonly Mistake[] {
  const { bus, graphdb, replicas } = definition;
  const graphNodes = hasOwnGraph(definition)
    ? [
        { path: ['graphdb', 'port'], port: graphdb.port, above: aboveAlpha, nodes: replicas['dgraph-alpha'] },
        { path: ['graphdb', 'zeroPort'], port: graphdb.zeroPort, above: aboveZero, nodes: replicas['dgraph-zero'] },
      ]
    : [];
  const busNodes = hasOwnBus(definition)
    ? [
        { path: ['bus', 'port'], port: bus.port, above: 0, nodes: replicas.nats },
        { path: ['bus', 'httpPort'], port: bus.httpPort ?? 'auto', above: 0, nodes: replicas.nats },
      ]
    : [];
  return [...busNodes, ...graphNodes].flatMap(({ path, port, above, nodes }) =>
    port === 'auto' || port + above + nodes - 1 <= lastPort
      ? []
      : [
          {
            ...text.locate(path),
            message: `${path.join('.')} must leave room: the ${nodes} nodes use consecutive numbers.`,
          },
        ],
  );
}
