import { Dialog as Base } from '@base-ui/react/dialog';
import { Link, Outlet, useRouter } from '@tanstack/react-router';
import { useCallback, useEffect, useState } from 'react';
import { IconButton } from '../../ui/controls/button.tsx';
import { Icon } from '../../ui/values/icon.tsx';
import { ConnectionBanner } from '../live/connection-banner.tsx';
import { useLiveEvents } from '../live/live-events.ts';
import { PaletteHost } from '../palette/palette-host.tsx';
import { useSession, useSessionInfo } from '../session.ts';
import { useSettled } from '../use-settled.ts';
import { navigation } from './navigation.ts';
import { Shortcuts } from './shortcuts.tsx';
import { TopBar } from './top-bar.tsx';

/** Frame of every view: navigation, top bar, live events. Without a session it redirects to the sign-in. */
export function Shell() {
  const { session } = useSessionInfo();
  const router = useRouter();
  useEffect(() => {
    if (session) return;
    void router.navigate({ to: '/sign-in', search: { to: router.latestLocation.href }, replace: true });
  }, [session, router]);
  return session && <Frame key={session.sessionId} />;
}

function Frame() {
  const { label, eventsAt } = useSessionInfo();
  const { sessionId } = useSession();
  const [isNavOpen, setNavOpen] = useState(false);
  const [isPaletteOpen, setPaletteOpen] = useState(false);
  const [areShortcutsOpen, setShortcutsOpen] = useState(false);
  const openShortcuts = useCallback((isOpen: boolean) => setShortcutsOpen(isOpen), []);
  const connection = useLiveEvents({ sessionId, after: eventsAt });
  return (
    <div className="flex min-h-dvh">
      <a
        href="#content"
        className="fixed top-2 left-2 z-60 -translate-y-20 rounded-md bg-accent px-3 py-2 text-on-accent focus:translate-y-0"
      >
        Skip to content
      </a>
      <aside
        aria-label="Navigation"
        className="sticky top-0 hidden h-dvh w-58 shrink-0 flex-col border-r border-line bg-surface md:flex print:hidden"
      >
        <Brand label={label} />
        <SideNav />
      </aside>
      <div className="min-w-0 flex-1">
        <TopBar
          onOpenNav={() => setNavOpen(true)}
          onShowShortcuts={() => setShortcutsOpen(true)}
          onOpenPalette={() => setPaletteOpen(true)}
        />
        <ConnectionBanner {...connection} />
        <main id="content" tabIndex={-1} className="outline-none">
          <Outlet />
        </main>
      </div>
      <NavDrawer isOpen={isNavOpen} onClose={() => setNavOpen(false)} label={label} />
      <RouteAnnouncer />
      <PaletteHost isOpen={isPaletteOpen} setOpen={setPaletteOpen} />
      <Shortcuts isOpen={areShortcutsOpen} setOpen={openShortcuts} />
    </div>
  );
}

interface NavDrawerProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly label: string;
}

/** The navigation on narrow screens, over the page. */
const NavDrawer = ({ isOpen, onClose, label }: NavDrawerProps) => (
  <Base.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
    <Base.Portal>
      <Base.Backdrop className="fixed inset-0 z-40 bg-black/40" />
      <Base.Popup className="fixed inset-y-0 left-0 z-50 flex w-64 max-w-[85vw] flex-col border-r border-line bg-surface">
        <Base.Title className="sr-only">Navigation</Base.Title>
        <div className="flex items-center justify-between pr-2">
          <Brand label={label} />
          <IconButton icon="close" label="Close navigation" onClick={onClose} />
        </div>
        <SideNav onNavigate={onClose} />
      </Base.Popup>
    </Base.Portal>
  </Base.Root>
);

/** Pause before announcing a title, since a view with loaded data in its title sets it twice. */
const PAUSE_MS = 300;

/** Announces the title of each new page to screen readers; browsers do so only for pages that they load. */
function RouteAnnouncer() {
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

/** The way to every view. */
function SideNav({ onNavigate }: { onNavigate?: () => void }) {
  const { scopes } = useSession();
  return (
    <nav aria-label="Main" className="flex-1 space-y-4 overflow-y-auto px-3 pb-4">
      {navigation.map((group) => (
        <div key={group.label}>
          {group.label && <p className="px-2.5 pb-1 text-xs font-medium text-muted">{group.label}</p>}
          <ul aria-label={group.label ?? undefined} className="space-y-0.5">
            {group.items
              .filter(({ scope }) => scope === undefined || scopes.includes(scope))
              .map(({ to, label, icon }) => (
                <li key={to}>
                  <Link
                    to={to}
                    activeOptions={{ exact: to === '/', includeSearch: false }}
                    {...(onNavigate ? { onClick: onNavigate } : {})}
                    className="flex items-center gap-2.5 rounded-md px-2.5 py-1.5 text-muted transition-colors hover:bg-sunken hover:text-text data-[status=active]:bg-accent-soft data-[status=active]:font-medium data-[status=active]:text-accent-text"
                  >
                    <Icon name={icon} />
                    {label}
                  </Link>
                </li>
              ))}
          </ul>
        </div>
      ))}
    </nav>
  );
}

/** Name of the dashboard and of its node. */
const Brand = ({ label }: { label: string }) => (
  <div className="flex h-14 shrink-0 items-center gap-2.5 px-5">
    <img src="/dashboard/icon.svg" alt="" className="size-6" />
    <div className="min-w-0 leading-tight">
      <div className="font-semibold tracking-tight">agent-network</div>
      <div className="truncate text-xs text-muted">{label}</div>
    </div>
  </div>
);
