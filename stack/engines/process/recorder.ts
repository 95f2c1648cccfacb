import { type Plan, settingsOf } from '../../lifecycle/plan.ts';
import { type ServiceEvent, transition } from '../../lifecycle/transition.ts';
import { urlsOf } from '../../lifecycle/urls.ts';
import type { PlatformLogs } from '../../logs/platform-logs.ts';
import type { Part } from '../../parts.ts';
import { writeLease } from '../../ports/port-lease.ts';
import { portWishesOf } from '../../ports/port-wishes.ts';
import { type PlatformRecord, type ServiceRecord, writeRecord } from '../../state/platform-record.ts';
import { ownIdentity, type ProcessIdentity } from '../../state/process-identity.ts';
import type { PartWatcher } from './supervised-part.ts';

export interface Recording {
  readonly plan: Plan;
  readonly foreground: boolean;
  readonly logs: PlatformLogs;
  readonly onChange: (record: PlatformRecord) => void;
}

/** Ends that are kept with their reasons; all of them are counted. */
const endsKept = 5;

/** Keeps state/process.json as it is: whoever starts a platform follows it, and whoever finds one learns from it what runs. */
export class Recorder implements PartWatcher {
  readonly #logs: PlatformLogs;
  readonly #onChange: (record: PlatformRecord) => void;
  #plan: Plan;
  #record: PlatformRecord;

  constructor({ plan, foreground, logs, onChange }: Recording) {
    this.#plan = plan;
    this.#logs = logs;
    this.#onChange = onChange;
    this.#record = {
      ...ownIdentity(),
      version: plan.version,
      topology: plan.definition.topology,
      foreground,
      settings: { ...settingsOf(plan) },
      urls: urlsOf(plan.addresses),
      services: plan.parts.map(plannedPart),
    };
    this.#write();
  }

  get record(): PlatformRecord {
    return this.#record;
  }

  moved(part: string, event: ServiceEvent): void {
    this.#change(part, (service) => {
      const state = transition(service.state, event);
      const process = state === 'stopped' ? null : service.process;
      return state === service.state ? service : { ...service, state, process, since: new Date().toISOString() };
    });
    // Before anybody can see that it is up: from then on its ports stay.
    if (isHealthy(this.#record))
      writeLease(this.#plan.installation, this.#plan.ports, portWishesOf(this.#plan.definition));
    if (event === 'start' || event === 'ready') this.#write();
    else this.#writeIfPossible();
  }

  born(part: string, process: ProcessIdentity): void {
    this.#change(part, (service) => ({ ...service, process }));
    this.#write();
  }

  broke(part: string, reason: string): void {
    const end = { at: new Date().toISOString(), reason };
    this.#change(part, (service) => ({
      ...service,
      process: null,
      endCount: service.endCount + 1,
      lastEnds: [...service.lastEnds, end].slice(-endsKept),
    }));
    this.#logs.note('error', 'a part ended that nobody had stopped', { part, reason });
  }

  #change(part: string, change: (service: ServiceRecord) => ServiceRecord): void {
    const services = this.#record.services.map((service) => (service.name === part ? change(service) : service));
    this.#record = { ...this.#record, services };
  }

  #write(): void {
    writeRecord(this.#plan.installation, this.#record);
    this.#onChange(this.#record);
  }

  /** Nobody starts anything for it, and a full disk must not take down what runs. */
  #writeIfPossible(): void {
    try {
      this.#write();
    } catch (error) {
      this.#logs.note('error', 'the record of a stop could not be written', { reason: String(error) });
      this.#onChange(this.#record);
    }
  }
}

function plannedPart({ name, url, readyUrl }: Part): ServiceRecord {
  const since = new Date().toISOString();
  return { name, state: 'planned', since, url, readyUrl, process: null, endCount: 0, lastEnds: [] };
}

function isHealthy({ services }: PlatformRecord): boolean {
  return services.every(({ state }) => state === 'healthy');
}
