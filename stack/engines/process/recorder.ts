import { inWords } from '../../../services/contracts/system-words.ts';
import { urlsOf } from '../../lifecycle/urls.ts';
import type { PlatformLogs } from '../../logs/platform-logs.ts';
import type { Part } from '../../parts/part.ts';
import { wishesOf } from '../../parts/parts.ts';
import { partOf, settingsOf, settingsOfPart } from '../../plan/differences.ts';
import type { Plan } from '../../plan/plan.ts';
import { writeLease } from '../../ports/port-lease.ts';
import type { Ports } from '../../settings/ports.ts';
import { type PlatformRecord, type ServiceRecord, writeRecord } from '../../state/platform-record.ts';
import { ownIdentity, type ProcessIdentity } from '../../state/process-identity.ts';
import { isUp, type ServiceEvent, transition } from '../../state/transition.ts';
import type { PlanWatcher } from './platform.ts';

export interface Recording {
  readonly plan: Plan;
  /** What is known from an earlier platform, by part. */
  readonly before: ReadonlyMap<string, Partial<ServiceRecord>>;
  readonly foreground: boolean;
  readonly logs: PlatformLogs;
  readonly onChange: Listener;
}

export type Listener = (record: PlatformRecord) => void;

/** How many ends are kept with their reasons. All ends are counted. */
const endsKept = 5;

/** Keeps state/process.json current. A command that starts a platform follows it, and every other command reads what runs. */
export class Recorder implements PlanWatcher {
  readonly #logs: PlatformLogs;
  readonly #listeners = new Set<Listener>();
  #plan: Plan;
  #record: PlatformRecord;
  /** Whether all parts were healthy once. */
  #isUp = false;
  #keptPorts: Ports | null = null;

  constructor({ plan, before, foreground, logs, onChange }: Recording) {
    this.#plan = plan;
    this.#logs = logs;
    this.#listeners.add(onChange);
    this.#record = {
      ...ownIdentity(),
      version: plan.version,
      topology: plan.definition.topology,
      foreground,
      settings: settingsOf(plan),
      urls: urlsOf(plan.addresses),
      services: plan.parts.map((part) => ({ ...plannedPart(part), ...before.get(part.name) })),
    };
    this.#write();
  }

  get record(): PlatformRecord {
    return this.#record;
  }

  /** Called with each change. Returns a function that removes the listener. */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Records the parts of a new plan. The settings of a part follow when it starts. */
  replan(plan: Plan): void {
    const { services, settings } = this.#record;
    const names = new Set(plan.parts.map(({ name }) => name));
    const kept = Object.entries(settings).filter(([name]) => names.has(partOf(name) ?? '') || partOf(name) === null);
    this.#plan = plan;
    this.#record = {
      ...this.#record,
      urls: urlsOf(plan.addresses),
      settings: Object.fromEntries(kept),
      services: plan.parts.map((part) => services.find(({ name }) => name === part.name) ?? plannedPart(part)),
    };
    this.#write();
  }

  moved(part: Part, event: ServiceEvent): void {
    this.#change(part, (service) => moveService(service, event));
    if (event === 'start')
      this.#record = { ...this.#record, settings: { ...this.#record.settings, ...settingsOfPart(part) } };
    // The ports are fixed before a client can see that the platform is up.
    if (this.#record.services.every(isUp)) this.#keepPorts();
    this.#write({ isNeeded: event === 'start' || event === 'ready' });
    this.#isUp ||= this.#record.services.every(isUp);
    if (event === 'lost') this.#logs.note('error', 'a part lost its data and was not started', { part: part.name });
  }

  born(part: Part, process: ProcessIdentity): void {
    const { url, ready } = part;
    this.#change(part, (service) => ({ ...service, url, ready, process }));
    this.#write();
  }

  broke(part: Part, reason: string): void {
    const end = { at: new Date().toISOString(), reason };
    this.#change(part, (service) => ({
      ...service,
      process: null,
      endCount: service.endCount + 1,
      lastEnds: [...service.lastEnds, end].slice(-endsKept),
    }));
    this.#logs.note('error', 'a part ended unexpectedly', { part: part.name, reason });
  }

  #change({ name }: Part, change: (service: ServiceRecord) => ServiceRecord): void {
    const services = this.#record.services.map((service) => (service.name === name ? change(service) : service));
    this.#record = { ...this.#record, services };
  }

  #keepPorts(): void {
    const { definition, installation, ports } = this.#plan;
    if (ports === this.#keptPorts) return;
    writeLease(installation, ports, wishesOf(definition));
    this.#keptPorts = ports;
  }

  /** A start that cannot be recorded fails. A running platform continues on a full disk and without state/. */
  #write({ isNeeded = true } = {}): void {
    try {
      writeRecord(this.#plan.installation, this.#record);
    } catch (error) {
      if (isNeeded && !this.#isUp) throw error;
      this.#logs.note('error', 'the record could not be written', { reason: inWords(error) });
    }
    this.#tell();
  }

  #tell(): void {
    for (const listener of this.#listeners) listener(this.#record);
  }
}

function plannedPart({ name, url, ready }: Part): ServiceRecord {
  const since = new Date().toISOString();
  return { name, state: 'planned', since, url, ready, process: null, endCount: 0, lastEnds: [] };
}

function moveService(service: ServiceRecord, event: ServiceEvent): ServiceRecord {
  const state = transition(service.state, event);
  if (state === service.state) return service;
  return {
    ...service,
    state,
    process: state === 'stopped' || state === 'lost' ? null : service.process,
    since: new Date().toISOString(),
  };
}
