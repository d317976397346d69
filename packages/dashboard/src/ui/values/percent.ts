const percent = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 1 });

/** 0.9512 → "95.1%"; null: a dash. Never "100%" for a share that is less. */
export function percentText(share: number | null): string {
  if (share === null) return '–';
  return percent.format(share < 1 ? Math.min(share, 0.999) : share);
}
