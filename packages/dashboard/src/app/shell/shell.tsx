import { Outlet, useRouter } from '@tanstack/react-router';
import { useCallback, useEffect, useState } from 'react';
import { ConnectionBanner } from '../live/connection-banner.tsx';
import { useLiveEvents } from '../live/live-events.ts';
import { PaletteHost } from '../palette/palette-host.tsx';
import { useSession, useSessionInfo } from '../session.ts';
import { NavDrawer } from './nav-drawer.tsx';
import { RouteAnnouncer } from './route-announcer.tsx';
import { Shortcuts } from './shortcuts.tsx';
import { Brand, SideNav } from './side-nav.tsx';
import { TopBar } from './top-bar.tsx';

/** Around every view: navigation, top bar, what is live. Without a session there is nothing to show. */
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
