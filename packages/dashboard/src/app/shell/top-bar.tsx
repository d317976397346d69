import { useLocation, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { Button, buttonClass, IconButton } from '../../ui/controls/button.tsx';
import { useCopy } from '../../ui/controls/copy-text.ts';
import { Menu } from '../../ui/controls/menu.tsx';
import { Actions, Dialog } from '../../ui/overlays/dialog.tsx';
import { Badge } from '../../ui/values/badge.tsx';
import type { IconName } from '../../ui/values/icon.tsx';
import { Identicon } from '../../ui/values/identicon.tsx';
import { ChainName } from '../chain-name.tsx';
import { useSession } from '../session.ts';
import { signOut } from '../sign-out.ts';
import { helpOf } from './page-help.ts';
import { chooseTheme, type Theme, themes, useTheme } from './theme.ts';

/** Explains the page that is open and leads to its documentation. */
function HelpButton({ onShowShortcuts }: { onShowShortcuts: () => void }) {
  const [isOpen, setOpen] = useState(false);
  const { title, text, section } = helpOf(useLocation().pathname);
  return (
    <>
      <IconButton icon="help" label="Help" onClick={() => setOpen(true)} />
      <Dialog isOpen={isOpen} onClose={() => setOpen(false)} title={`Help: ${title}`}>
        <div className="space-y-2">
          {text.map((each) => (
            <p key={each}>{each}</p>
          ))}
        </div>
        <Actions>
          <Button
            icon="keyboard"
            onClick={() => {
              setOpen(false);
              onShowShortcuts();
            }}
          >
            Shortcuts
          </Button>
          <a href={`/docs#${section}`} target="_blank" rel="noopener" className={buttonClass('primary')}>
            Documentation<span className="sr-only"> (opens in a new tab)</span>
          </a>
        </Actions>
      </Dialog>
    </>
  );
}

const themeIcons: Readonly<Record<Theme, IconName>> = { system: 'screen', light: 'sun', dark: 'moon' };
const themeLabels: Readonly<Record<Theme, string>> = { system: 'System', light: 'Light', dark: 'Dark' };

function ThemeMenu() {
  const theme = useTheme();
  return (
    <Menu
      trigger={<IconButton icon={themeIcons[theme]} label="Theme" />}
      items={themes.map((each) => ({
        label: themeLabels[each],
        icon: themeIcons[each],
        isChecked: each === theme,
        onSelect: () => chooseTheme(each),
      }))}
    />
  );
}

const shortAddress = (address: string) => `${address.slice(0, 6)}…${address.slice(-4)}`;

function AccountMenu() {
  const { address } = useSession();
  const navigate = useNavigate();
  const { copy } = useCopy();
  return (
    <Menu
      trigger={
        <Button variant="ghost" aria-label={`${shortAddress(address)} Account`}>
          <Identicon id={address} className="size-5" />
          <span className="font-mono text-[13px] max-sm:hidden">{shortAddress(address)}</span>
        </Button>
      }
      items={[
        { label: 'Copy address', icon: 'copy', onSelect: () => copy(address) },
        { label: 'Account and sessions', icon: 'account', onSelect: () => void navigate({ to: '/account' }) },
        { label: 'API keys', icon: 'key', onSelect: () => void navigate({ to: '/keys' }) },
        { label: 'Documentation', icon: 'help', onSelect: () => void open('/docs', '_blank', 'noopener') },
        {
          label: 'Sign out',
          icon: 'signOut',
          onSelect: () => void signOut(),
        },
      ]}
    />
  );
}

const PaletteButton = ({ onOpen }: { onOpen: () => void }) => (
  <Button variant="ghost" icon="search" aria-keyshortcuts="Control+K Meta+K" className="text-muted" onClick={onOpen}>
    <span className="max-md:sr-only">Search everything</span>
    <kbd className="rounded border border-line bg-sunken px-1.5 font-mono text-xs max-md:hidden">Ctrl K</kbd>
  </Button>
);

interface TopBarProps {
  readonly onOpenNav: () => void;
  readonly onShowShortcuts: () => void;
  readonly onOpenPalette: () => void;
}

export function TopBar({ onOpenNav, onShowShortcuts, onOpenPalette }: TopBarProps) {
  return (
    <header className="sticky top-0 z-30 flex h-14 print:hidden items-center justify-between gap-2 border-b border-line bg-page/90 px-2 backdrop-blur sm:px-6">
      <div className="flex min-w-0 items-center gap-2">
        <IconButton icon="menu" label="Open navigation" className="md:hidden" onClick={onOpenNav} />
        <Badge>
          <ChainName />
        </Badge>
      </div>
      <div className="flex items-center">
        <PaletteButton onOpen={onOpenPalette} />
        <HelpButton onShowShortcuts={onShowShortcuts} />
        <ThemeMenu />
        <AccountMenu />
      </div>
    </header>
  );
}
