import type { Ports } from '../settings/ports.ts';
import type { PartData } from './part.ts';

/** The world as a part sees it from where it runs. */
export interface Site {
  /** A private site is a network of its own: programs of this machine reach only published ports. */
  readonly isPrivate: boolean;
  /** The ports that parts listen on, by name. */
  readonly ports: Ports;
  /** The address that a part listens on instead of this one. */
  listenOn(host: string): string;
  /** The host under which other parts reach a part that listens on `host`. */
  hostOf(part: string, host: string): string;
  /** The path of a file of this machine. */
  pathOf(file: string): string;
  /** The path of what a part keeps, or of a file in it. */
  dataPathOf(data: PartData, file?: string): string;
  /** A folder for files that the part may lose. */
  scratchPathOf(part: string): string;
}
