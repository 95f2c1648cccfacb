import { graphContract } from '../graph.contract.ts';
import { describeOnCluster } from './test/describe-on-cluster.ts';

describeOnCluster((cluster) => graphContract({ name: 'Dgraph', empty: () => cluster().emptyGraph() }));
