import { Secret } from '../../../contracts/secret.ts';
import { createLog } from '../../../kit/log.ts';
import { openGraph } from '../../graph/open-graph.ts';
import { openSecrets } from '../../secrets/secrets.ts';
import { quickTimes } from '../mail.contract.ts';
import { MailSender } from '../mail-sender.ts';
import { providerEngine } from '../provider-engine.ts';
import { rightKey, sender } from './receiver.ts';

/** A separate process that sends the mail of a graph to a provider, until it is killed. */
const [graphUrl = '', url = ''] = process.argv.slice(2);
const log = createLog({ service: 'test', level: 'error', destination: process.stderr });
const secrets = openSecrets({ present: new Secret('5e'.repeat(32)), previous: undefined });
const engine = providerEngine({
  ...{ name: 'provider_a', url, key: new Secret(rightKey), from: sender, fromName: undefined, deadlineMs: 60_000 },
});
new MailSender({ graph: await openGraph({ url: graphUrl }), secrets, log }, engine, quickTimes).start();
setInterval(() => undefined, 1000);
