import type { Definition } from './definition.ts';
import { usualDgraphPorts } from './dgraph-numbers.ts';
import { hasOwnBus } from './has-own-bus.ts';
import { hasOwnGraph } from './has-own-graph.ts';
import type { Mistake, YamlText } from './yaml-text.ts';

/** Nodes are counted of what `svc up` runs; of what somebody else runs, he says how many there are. */
export function clusterOfOthers(definition: Definition, text: YamlText): readonly Mistake[] {
  const { bus, graph, graphdb, replicas, topology } = definition;
  if (topology === 'embedded') return [];
  const complaint = (node: 'nats' | 'dgraph-zero' | 'dgraph-alpha', why: string): readonly Mistake[] =>
    replicas[node] === 1
      ? []
      : [{ ...text.locate(['replicas', node]), message: `replicas.${node} above 1 needs ${why}.` }];
  const ofBus = bus.servers === 'auto' ? [] : complaint('nats', 'a bus of our own, and bus.servers names another one');
  const whyNoGraph = graph === 'sqlite' ? 'graph: dgraph' : 'a Dgraph of our own, and graphdb.url names another one';
  const isOwn = graph === 'dgraph' && graphdb.url === 'auto';
  return isOwn ? ofBus : [...ofBus, ...complaint('dgraph-zero', whyNoGraph), ...complaint('dgraph-alpha', whyNoGraph)];
}

const lastPort = 65_535;
/** From the HTTP port of a data node to the highest of its ports, and from the port of a coordination node. */
const aboveAlpha = usualDgraphPorts.alpha.grpc - usualDgraphPorts.alpha.http;
const aboveZero = usualDgraphPorts.zero.http - usualDgraphPorts.zero.grpc;

/** Where the port of the first node is a number, further ones have the numbers after it. */
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
            message: `${path.join('.')} must leave room: each of ${nodes} nodes has the number after the one before.`,
          },
        ],
  );
}
