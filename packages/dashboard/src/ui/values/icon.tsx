/** Lines on a grid of 24, drawn with a stroke of 1.75. */
const paths = {
  home: 'M4 11 12 4l8 7v8a1 1 0 0 1-1 1h-4v-6H9v6H5a1 1 0 0 1-1-1z',
  search: 'M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM20 20l-4-4',
  agent: 'M12 3v3M6 6h12a2 2 0 0 1 2 2v9a2 2 0 0 1-2 2H6a2 2 0 0 1-2-2V8a2 2 0 0 1 2-2zM9 11v2M15 11v2M9 16h6',
  bolt: 'M13 3 5 14h6l-1 7 8-11h-6z',
  wallet: 'M4 7a2 2 0 0 1 2-2h11v4M4 7v10a2 2 0 0 0 2 2h13a1 1 0 0 0 1-1v-8a1 1 0 0 0-1-1H6a2 2 0 0 1-2-2zM16 14h.01',
  key: 'M15 4a5 5 0 1 0-4.6 7L4 17.5V20h3v-2h2v-2h2l1.5-1.5A5 5 0 0 0 15 4zM16 8h.01',
  webhook: 'M12 4a4 4 0 0 1 2 7.5l2 4M6 20a4 4 0 0 1-.5-8M18 20a4 4 0 1 0 0-8l-2 .5M12 8l-4 8h10',
  gauge: 'M4 18a9 9 0 1 1 16 0M12 15l4-5M12 15h.01',
  network: 'M12 3v6M12 15v6M5 8l5 3M14 13l5 3M19 8l-5 3M10 13l-5 3M12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6z',
  account: 'M12 4a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM4 20c1-4 4-5 8-5s7 1 8 5',
  operator: 'M4 6h16M4 12h16M4 18h16M8 4v4M16 10v4M10 16v4',
  menu: 'M4 7h16M4 12h16M4 17h16',
  close: 'M6 6l12 12M18 6 6 18',
  check: 'M5 12.5 10 17l9-10',
  copy: 'M9 9h10v11H9zM5 15V4h10',
  chevronDown: 'M7 10l5 5 5-5',
  chevronLeft: 'M14 7l-5 5 5 5',
  chevronRight: 'M10 7l5 5-5 5',
  arrowUp: 'M12 19V5M6 11l6-6 6 6',
  arrowDown: 'M12 5v14M6 13l6 6 6-6',
  external: 'M14 5h5v5M19 5l-8 8M10 6H6a1 1 0 0 0-1 1v11a1 1 0 0 0 1 1h11a1 1 0 0 0 1-1v-4',
  more: 'M6 12h.01M12 12h.01M18 12h.01',
  plus: 'M12 5v14M5 12h14',
  refresh: 'M19 8a8 8 0 1 0 1 5M20 4v5h-5',
  trash: 'M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13',
  sun: 'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.5 1.5M17.5 17.5 19 19M5 19l1.5-1.5M17.5 6.5 19 5',
  moon: 'M20 14A8 8 0 0 1 10 4a8 8 0 1 0 10 10z',
  screen: 'M4 5h16v11H4zM9 20h6M12 16v4',
  alert: 'M12 4 3 19h18zM12 10v4M12 16.5h.01',
  play: 'M8 5v14l11-7z',
  stop: 'M7 7h10v10H7z',
  download: 'M12 4v11M7 11l5 5 5-5M5 20h14',
  filter: 'M4 6h16l-6 7v6l-4-2v-4z',
  signOut: 'M10 4H5v16h5M14 8l4 4-4 4M18 12H9',
  help: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM9.5 9.5a2.5 2.5 0 1 1 3.6 2.2c-.7.4-1.1.9-1.1 1.8M12 17h.01',
  calendar: 'M4 6h16v14H4zM4 10h16M8 3v4M16 3v4',
  keyboard: 'M3 7h18v10H3zM7 11h.01M11 11h.01M15 11h.01M8 14h8',
} as const;

export type IconName = keyof typeof paths;

/** An icon next to a text with the same meaning, so it is hidden from screen readers. */
export const Icon = ({ name, className = 'size-4' }: { name: IconName; className?: string }) => (
  <svg viewBox="0 0 24 24" aria-hidden="true" className={`shrink-0 ${className}`}>
    <path
      d={paths[name]}
      fill="none"
      stroke="currentColor"
      strokeWidth={name === 'more' ? 3 : 1.75}
      strokeLinecap="round"
      strokeLinejoin="round"
    />
  </svg>
);
