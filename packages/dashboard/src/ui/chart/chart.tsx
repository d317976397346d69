import uPlot from 'uplot';
import { groupDigits } from '../values/money.tsx';
import 'uplot/dist/uPlot.min.css';
import { useEffect, useRef, useState } from 'react';

export interface Series {
  readonly label: string;
  /** null: there is nothing to show at that point. */
  readonly values: readonly (number | null)[];
  readonly tone?: 'accent' | 'good' | 'bad' | 'muted';
}

export interface ChartProps {
  readonly title: string;
  /** Positions on the time axis, in milliseconds. */
  readonly timesMs: readonly number[];
  readonly series: readonly Series[];
  /** "12 calls", "0.5 USDC", "80 ms": for the axis, the legend and the table. */
  readonly format: (value: number) => string;
  readonly heightPx?: number;
  /** Theme of the page; the chart is redrawn when it changes. */
  readonly theme: 'light' | 'dark';
  /** Shown in place of a chart without any value but 0. */
  readonly none?: string;
}

/** Layout of several bars at one time: parts of a whole on top of each other, or two amounts side by side. */
type BarLayout = 'stacked' | 'beside';

interface BarChartProps extends ChartProps {
  /** Needed for more than one series. */
  readonly layout?: BarLayout;
}

type Kind = 'line' | BarLayout;

/** So few are drawn as points too: one between gaps makes no line. */
const MAX_POINTS = 31;
const DAY_S = 86_400;
const CHAR_PX = 7.5;
const HEIGHT_PX = 200;

/** `format` for counts. Ticks between whole numbers get no label. */
export const countText = (value: number): string => (Number.isInteger(value) ? groupDigits(value) : '');

const inUtc = (format: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat('en-GB', { ...format, timeZone: 'UTC' });
const dayFormat = inUtc({ day: 'numeric', month: 'short' });
const hourFormat = inUtc({ hour: '2-digit', minute: '2-digit' });
const fullFormat = inUtc({ day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit' });

/** Days at midnight where several are shown, hours elsewhere. */
const timeTicks = (_: uPlot, ticks: number[]) => {
  const hasDays = (ticks.at(-1) ?? 0) - (ticks[0] ?? 0) > DAY_S;
  return ticks.map((tick) => (hasDays && tick % DAY_S === 0 ? dayFormat : hourFormat).format(tick * 1000));
};

/** Width of an axis, from its longest text. */
const widthOf = (_: uPlot, texts: string[] | null) =>
  Math.max(0, ...(texts ?? []).map((text) => text.length)) * CHAR_PX + 16;

const color = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

/** Lower and upper ends of the bars of each series, the first series at the bottom. */
export function stackedEnds(series: readonly Pick<Series, 'values'>[]) {
  let base: readonly number[] = (series[0]?.values ?? []).map(() => 0);
  return series.map(({ values }) => {
    const from = base;
    base = from.map((start, at) => start + (values[at] ?? 0));
    return { from, to: base };
  });
}

/** Distance of two neighbours on the time axis, in seconds; a day for one point. */
const stepOf = (timesMs: readonly number[]): number =>
  timesMs[0] === undefined || timesMs[1] === undefined ? DAY_S : (timesMs[1] - timesMs[0]) / 1000;

const constantly = (values: readonly number[]) => ({ unit: 1, values: () => [...values] });

/** Draws the bars of the series at this index. */
function barsOf(kind: BarLayout, series: readonly Series[], index: number) {
  if (kind === 'beside' && series.length > 1)
    return uPlot.paths.bars?.({ size: [0.36, 18], align: index === 0 ? -1 : 1, gap: 1 });
  const ends = stackedEnds(series)[index];
  return uPlot.paths.bars?.({
    size: [0.7, 36],
    ...(ends ? { disp: { y0: constantly(ends.from), y1: constantly(ends.to) } as never } : {}),
  });
}

function seriesOptions({ series, format }: ChartProps, kind: Kind, index: number): uPlot.Series {
  const { label, tone = 'accent', values } = series[index] as Series;
  const stroke = color(tone);
  const value = (_: uPlot, at: number | null) => (at === null || at === undefined ? '–' : format(at));
  const paths = kind === 'line' ? undefined : barsOf(kind, series, index);
  return paths
    ? { label, value, stroke, fill: stroke, width: 0, paths, points: { show: false } }
    : { label, value, stroke, width: 2, points: { show: values.length <= MAX_POINTS, size: 5, fill: stroke } };
}

/** The largest value, or the highest stack. */
function topOf({ series }: ChartProps, kind: Kind): number {
  const tops = kind === 'stacked' ? (stackedEnds(series).at(-1)?.to ?? []) : series.flatMap(({ values }) => values);
  return Math.max(0, ...tops.map((value) => value ?? 0));
}

/** Idle: the pointer is elsewhere, and the legend has no values to show. */
const setIdle = (box: HTMLElement | null, isIdle: boolean) => box?.toggleAttribute('data-idle', isIdle);

function optionsOf(kind: Kind, props: ChartProps, widthPx: number): uPlot.Options {
  const top = topOf(props, kind) * 1.1 || 1;
  const sidePad = kind === 'line' ? 0 : stepOf(props.timesMs) / 2;
  const axis = { stroke: color('muted'), grid: { stroke: color('line'), width: 1 }, ticks: { show: false } };
  return {
    width: widthPx,
    height: props.heightPx ?? HEIGHT_PX,
    scales: {
      x: { range: (_, low, high) => [low - sidePad, high + sidePad] },
      y: { range: (_, low) => [Math.min(0, low ?? 0), top] },
    },
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
    series: [
      { label: 'UTC', value: (_, seconds) => (seconds === null ? '–' : fullFormat.format(seconds * 1000)) },
      ...props.series.map((_, index) => seriesOptions(props, kind, index)),
    ],
    axes: [
      { ...axis, grid: { show: false }, space: 60, values: timeTicks },
      { ...axis, size: widthOf, values: (_, ticks) => ticks.map((tick) => props.format(tick)) },
    ],
    cursor: { y: false, points: { size: 6 } },
    hooks: { setCursor: [({ root, cursor }) => setIdle(root.parentElement, (cursor.left ?? -1) < 0)] },
    legend: { live: true },
  };
}

/** Lines or bars over time (UTC, as the node counts days), with the same numbers as a table for who cannot see them. */
function Chart({ kind, ...props }: ChartProps & { kind: Kind }) {
  const box = useRef<HTMLDivElement>(null);
  const [isTable, setIsTable] = useState(false);
  const { timesMs, series, theme, title } = props;
  const isEmpty = series.every(({ values }) => values.every((value) => !value));
  const drawn = JSON.stringify([timesMs, series, theme, title, isTable]);
  const latest = useRef(props);
  latest.current = props;
  // biome-ignore lint/correctness/useExhaustiveDependencies: drawn again when what is drawn differs, not when it is told again
  useEffect(() => {
    const element = box.current;
    if (!element || isTable || isEmpty) return;
    const data = [
      latest.current.timesMs.map((ms) => ms / 1000),
      ...latest.current.series.map(({ values }) => [...values]),
    ];
    const plot = new uPlot(optionsOf(kind, latest.current, element.clientWidth), data as uPlot.AlignedData, element);
    const resize = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: plot.height }));
    resize.observe(element);
    return () => {
      resize.disconnect();
      plot.destroy();
    };
  }, [drawn, kind]);
  return (
    <figure aria-label={title} className="min-w-0">
      {isTable && <ChartTable {...props} />}
      {!isTable && isEmpty && <NoValues {...props} />}
      {!isTable && !isEmpty && (
        <div
          ref={box}
          aria-hidden="true"
          data-idle=""
          data-single={series.length === 1 ? '' : undefined}
          className="chart min-w-0 overflow-hidden"
        />
      )}
      <button
        type="button"
        aria-pressed={isTable}
        onClick={() => setIsTable(!isTable)}
        className="mt-1 text-[13px] text-muted hover:text-text"
      >
        {isTable ? 'Show as chart' : 'Show as table'}
      </button>
    </figure>
  );
}

export const LineChart = (props: ChartProps) => <Chart kind="line" {...props} />;
export const BarChart = ({ layout = 'stacked', ...props }: BarChartProps) => <Chart kind={layout} {...props} />;

/** Text in place of an empty chart, of the same height, so that the first value moves little; on phones less high. */
const NoValues = ({ none = 'Nothing in this period', heightPx = HEIGHT_PX }: ChartProps) => (
  <p className="flex items-center justify-center text-muted max-sm:max-h-24" style={{ height: heightPx }}>
    {none}
  </p>
);

const ChartTable = ({ title, timesMs, series, format }: ChartProps) => (
  <section aria-label={title} tabIndex={0} className="max-h-60 overflow-auto">
    <table className="w-full text-[13px]">
      <caption className="sr-only">{title}</caption>
      <thead>
        <tr className="border-b border-line text-left text-muted">
          <th scope="col" className="py-1 pr-4 font-medium">
            Time (UTC)
          </th>
          {series.map(({ label }) => (
            <th key={label} scope="col" className="py-1 pr-4 text-right font-medium">
              {label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {timesMs.map((ms, at) => (
          <tr key={ms}>
            <th scope="row" className="py-0.5 pr-4 text-left font-normal whitespace-nowrap">
              {fullFormat.format(ms)}
            </th>
            {series.map(({ label, values }) => (
              <td key={label} className="py-0.5 pr-4 text-right">
                {values[at] === null || values[at] === undefined ? '–' : format(values[at])}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </section>
);
