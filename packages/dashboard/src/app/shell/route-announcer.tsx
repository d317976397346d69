import { useEffect, useState } from 'react';
import { useSettled } from '../use-settled.ts';

/** A view names itself twice where its title comes with its data: only the second is told. */
const PAUSE_MS = 300;

/** Tells screen readers the title of each page that is gone to: a browser does so only for pages that it loads. */
export function RouteAnnouncer() {
  const [title, setTitle] = useState('');
  const told = useSettled(title, PAUSE_MS);
  useEffect(() => {
    const element = document.querySelector('title');
    if (!element) return;
    const observer = new MutationObserver(() => setTitle(document.title));
    observer.observe(element, { childList: true, characterData: true, subtree: true });
    return () => observer.disconnect();
  }, []);
  return (
    <div role="status" className="sr-only">
      {told}
    </div>
  );
}
