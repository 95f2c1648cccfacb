import { send } from './client.ts';
import { addPasskeyMutation, beginPasskeyMutation } from './generated/operations.ts';
import { ShownError } from './shown-error.ts';

/** Makes a passkey on this device. The library is loaded when a person wants it. */
export async function addPasskey(name: string): Promise<void> {
  const { startRegistration } = await import('@simplewebauthn/browser');
  const { beginPasskey } = await send(beginPasskeyMutation, {});
  const response = await startRegistration({ optionsJSON: JSON.parse(beginPasskey.options) }).catch(() => {
    throw new ShownError({
      ...{ code: 'cancelled', message: 'No passkey was made.', requestId: null },
      hint: 'Try again, or use another device.',
    });
  });
  await send(addPasskeyMutation, { ticket: beginPasskey.ticket, response: JSON.stringify(response), name });
}
