import { type Addresses, addressesOf } from '../addresses.ts';
import { readDefinition } from '../definition/check.ts';
import type { Definition } from '../definition/definition.ts';
import { type Environment, environmentOf, servicesOf } from '../environment.ts';
import type { Installation } from '../installation.ts';
import { leasedPorts } from '../ports/port-lease.ts';
import { type Ports, portWishesOf } from '../ports/port-wishes.ts';
import { fingerprintOf, type SecretFiles, secretFilesOf } from '../secrets.ts';
import { ownVersion } from '../version.ts';

/** Everything that a platform is started with, decided before anything is. */
export interface Plan {
  readonly installation: Installation;
  readonly definition: Definition;
  readonly ports: Ports;
  readonly addresses: Addresses;
  readonly environment: Environment;
  readonly secrets: SecretFiles;
  readonly version: string;
}

/** The plan that svc.yaml and the leased ports make. */
export function readPlan(installation: Installation): Plan {
  const definition = readDefinition(installation.definitionFile);
  return planFor(installation, definition, leasedPorts(installation, portWishesOf(definition)));
}

export function planFor(installation: Installation, definition: Definition, ports: Ports): Plan {
  const addresses = addressesOf(definition, ports);
  const secrets = secretFilesOf(installation);
  const environment = environmentOf({ installation, definition, ports, addresses, secrets });
  return { installation, definition, ports, addresses, environment, secrets, version: ownVersion() };
}

export type Settings = Readonly<Record<string, string>>;

/** The plan as a flat list by name, secrets as fingerprints: what two plans differ in can be said line by line. */
export function settingsOf({ definition, environment, secrets, version }: Plan): Settings {
  const variables = servicesOf(environment).flatMap((service) =>
    Object.entries(environment[service]).map(([name, value]) => [`${service} ${name}`, value]),
  );
  return {
    version,
    'bus.persistentMessaging': String(definition.bus.persistentMessaging),
    'logs.fileSizeMaxMb': String(definition.logs.fileSizeMaxMb),
    'logs.filesKept': String(definition.logs.filesKept),
    ...Object.fromEntries(variables),
    'secrets/encryption.key': fingerprintOf(secrets.encryptionKey),
    'secrets/jwt-private.pem': fingerprintOf(secrets.jwtPrivateKey),
    'secrets/system-remote-mcp.key': fingerprintOf(secrets.remoteMcpKey),
    'secrets/system-runtime.key': fingerprintOf(secrets.runtimeKey),
  };
}

/** What would change, one line each, in the order of the names; none where nothing would. */
export function changesBetween(before: Settings, after: Settings): readonly string[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return names
    .filter((name) => before[name] !== after[name])
    .map((name) => `${name}: ${before[name] ?? 'unset'} → ${after[name] ?? 'unset'}`);
}
