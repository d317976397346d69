import type { ReactNode } from 'react';
import { Icon } from './icon.tsx';

/** The address, if a link may lead there: http and https only. null for anything else, however it is written. */
export function safeHref(text: string): string | null {
  const url = URL.parse(text);
  return url && /^https?:$/.test(url.protocol) ? url.href : null;
}

/** For links inside of texts; TanStack's `Link` takes it as its class. */
export const linkClass = 'rounded-sm text-accent-text underline-offset-2 hover:underline';

/** A link to elsewhere. An address that is not http(s), as strangers may name one, is shown as text. */
export function ExternalLink({ href, children }: { href: string; children?: ReactNode }) {
  const safe = safeHref(href);
  const text = children ?? href;
  if (safe === null) return <span className="break-all">{text}</span>;
  return (
    <a
      href={safe}
      target="_blank"
      rel="noopener noreferrer"
      className={`${linkClass} inline-flex items-center gap-1 break-all`}
    >
      {text}
      <Icon name="external" className="size-3.5" />
      <span className="sr-only"> (opens in a new tab)</span>
    </a>
  );
}
