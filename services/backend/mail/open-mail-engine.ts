import { readFileSync } from 'node:fs';
import type { Env } from '../../contracts/env/check.ts';
import { SvcError } from '../../contracts/errors.ts';
import { inWords } from '../../contracts/system-words.ts';
import type { WithLog } from '../bus/with-bus.ts';
import { logEngine } from './log-engine.ts';
import type { MailEngine } from './mail-engine.ts';
import { providerEngine } from './provider-engine.ts';

/** PROVIDER_A_TIMEOUT_SECONDS has the same default. */
const providerBDeadlineMs = 10_000;

/** The engine that EMAIL_PROVIDER names. */
export async function openMailEngine(config: Env<'backend'>, logs: WithLog): Promise<MailEngine> {
  const { EMAIL_FROM_NAME: fromName } = config;
  const from = () => given('EMAIL_FROM', config.EMAIL_FROM);
  switch (config.EMAIL_PROVIDER) {
    case 'log':
      return logEngine(logs);
    case 'provider_a':
      return providerEngine({
        ...{ name: 'provider_a', from: from(), fromName },
        url: given('PROVIDER_A_URL', config.PROVIDER_A_URL),
        key: given('PROVIDER_A_API_KEY', config.PROVIDER_A_API_KEY),
        deadlineMs: config.PROVIDER_A_TIMEOUT_SECONDS * 1000,
      });
    case 'provider_b':
      return providerEngine({
        ...{ name: 'provider_b', from: from(), fromName: undefined },
        url: given('PROVIDER_B_URL', config.PROVIDER_B_URL),
        key: given('PROVIDER_B_API_KEY', config.PROVIDER_B_API_KEY),
        deadlineMs: providerBDeadlineMs,
      });
    case 'smtp': {
      const { SMTP_USER: user, SMTP_PASSWORD: password, SMTP_CA_PATH: ca } = config;
      // Other engines do not need the memory of its client.
      const { smtpEngine } = await import('./smtp-engine.ts');
      return smtpEngine({
        ...{ host: given('SMTP_HOST', config.SMTP_HOST), port: config.SMTP_PORT, tls: config.SMTP_TLS },
        ...{ from: from(), fromName },
        ca: ca === undefined ? undefined : readAuthority(ca),
        login: user === undefined || password === undefined ? undefined : { user, password },
      });
    }
  }
}

/** The check of the variables has refused a provider without it. */
function given<Value>(name: string, value: Value | undefined): Value {
  if (value === undefined) throw new Error(`${name} is not set`);
  return value;
}

function readAuthority(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new SvcError('unavailable', `SMTP_CA_PATH "${path}" cannot be read: ${inWords(error)}.`, {
      hint: 'Set it to the PEM file of the authority, or unset it for the authorities of the system.',
      cause: error,
    });
  }
}
