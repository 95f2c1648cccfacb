import { Icon } from './icon.tsx';
import { Snippet } from './snippet.tsx';

/** A new secret. It is in this answer only. */
export function KeyShownOnce({ secret, about }: { readonly secret: string; readonly about: string }) {
  return (
    <div className="grid gap-3">
      <p className="flex gap-3 rounded-control bg-warn-soft px-4 py-3">
        <Icon name="warning" className="mt-1 text-warn" />
        {about}
      </p>
      <Snippet text={secret} wraps />
    </div>
  );
}
