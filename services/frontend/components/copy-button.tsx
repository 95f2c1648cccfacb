import { useEffect, useState } from 'react';
import { Button } from './button.tsx';

const copiedMs = 1600;

/** Browsers offer the clipboard to secure pages only. Elsewhere there is no button, and people select the text. */
export function CopyButton({ text, className }: { readonly text: string; readonly className?: string }) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setCopied(false), copiedMs);
    return () => clearTimeout(timer);
  }, [isCopied]);
  if (navigator.clipboard === undefined) return null;
  const copy = () => navigator.clipboard.writeText(text).then(() => setCopied(true));
  return (
    <Button isSmall icon={isCopied ? 'check' : 'copy'} onClick={() => void copy()} {...(className && { className })}>
      <span aria-live="polite">{isCopied ? 'Copied' : 'Copy'}</span>
    </Button>
  );
}
