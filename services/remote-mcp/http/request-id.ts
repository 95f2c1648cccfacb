import { newProcessId } from '../../contracts/ids.ts';

const lengthMax = 64;

/** Gives each request an id: the client's own if its X-Request-Id is valid, else the next id of this process. */
export class RequestIds {
  readonly #prefix = `${newProcessId()}-`;
  #count = 0;

  for(given: string | string[] | undefined): string {
    if (typeof given === 'string' && given.length <= lengthMax && /^[A-Za-z0-9._-]+$/.test(given)) return given;
    return this.#prefix + (this.#count++).toString(36);
  }
}
