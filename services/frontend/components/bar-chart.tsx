import { useEffect, useRef, useState } from 'react';
import UPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';

export interface Bar {
  /** Milliseconds. */
  readonly at: number;
  readonly value: number;
  /** The part of the value that is bad. */
  readonly bad: number;
}

interface BarChartProps {
  readonly bars: readonly Bar[];
  /** Tells what a bar stands for. */
  readonly describe: (bar: Bar) => string;
  /** Shown while the pointer is on no bar. */
  readonly about: string;
}

/** Bars over time. A screen reader gets the table beside it. */
export function BarChart({ bars, describe, about }: BarChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const chart = useRef<UPlot | null>(null);
  const latest = useRef(bars);
  latest.current = bars;
  const [pointed, setPointed] = useState<number | null>(null);
  const theme = useThemeOfDocument();
  useEffect(() => {
    const { current } = place;
    if (current === null) return;
    const made = new UPlot(optionsFor(current, theme, setPointed), dataOf(latest.current), current);
    chart.current = made;
    const resize = new ResizeObserver(() => {
      made.setSize({ width: current.clientWidth, height: current.clientHeight });
    });
    resize.observe(current);
    return () => {
      resize.disconnect();
      made.destroy();
      chart.current = null;
    };
  }, [theme]);
  useEffect(() => chart.current?.setData(dataOf(bars)), [bars]);
  const bar = pointed === null ? undefined : bars[pointed];
  return (
    <div aria-hidden="true">
      <p className="mb-2 truncate text-12 text-quiet">{bar === undefined ? about : describe(bar)}</p>
      <div ref={place} className="h-56 w-full overflow-hidden text-12 text-quiet" />
    </div>
  );
}

const seconds = 1000;

function dataOf(bars: readonly Bar[]): UPlot.AlignedData {
  return [bars.map(({ at }) => at / seconds), bars.map(({ value }) => value), bars.map(({ bad }) => bad)];
}

/** A bar that stands alone is not as wide as the chart. */
const barMaxWidth = 32;
const barShare = 0.7;

function optionsFor(place: HTMLElement, _theme: string, onPoint: (index: number | null) => void): UPlot.Options {
  const { fontSize, fontFamily, color } = getComputedStyle(place);
  // The computed shorthand is empty, because the numbers are tabular.
  const font = `${fontSize} ${fontFamily}`;
  const colourOf = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const paths = UPlot.paths.bars?.({ size: [barShare, barMaxWidth] });
  const axis = { font, stroke: color, ticks: { show: false } };
  const series = (stroke: string) => ({
    stroke,
    fill: stroke,
    width: 0,
    points: { show: false },
    ...(paths && { paths }),
  });
  return {
    width: place.clientWidth,
    height: place.clientHeight,
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
    scales: { x: { range: withWholeBars }, y: { range: (_chart, _low, high) => [0, Math.max(4, high * 1.1)] } },
    axes: [
      { ...axis, grid: { show: false }, values: (_chart, splits) => splits.map(momentWords) },
      {
        ...axis,
        grid: { stroke: colourOf('--slate-4'), width: 1 },
        incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 50_000, 100_000, 1_000_000, 10_000_000],
      },
    ],
    series: [{}, series(colourOf('--iris-9')), series(colourOf('--red-9'))],
    hooks: { setCursor: [({ cursor }) => onPoint(cursor.idx ?? null)] },
  };
}

/** Half a bar more on each side, so that the first and the last one are not cut. */
const withWholeBars: UPlot.Range.Function = ({ data: [moments] }, first, last) => {
  const half = ((moments[1] ?? first) - (moments[0] ?? first)) / 2;
  return [first - half, last + half];
};

const dayWords = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short' });
const hourWords = new Intl.DateTimeFormat('en', { hour: 'numeric' });

/** `Nov 27` at midnight, else `8 AM`. */
function momentWords(atSeconds: number): string {
  const at = new Date(atSeconds * seconds);
  return (at.getHours() === 0 ? dayWords : hourWords).format(at);
}

/** The colours of a canvas do not follow a change of the theme by themselves. */
function useThemeOfDocument(): string {
  const [theme, setTheme] = useState(() => document.documentElement.className);
  useEffect(() => {
    const observer = new MutationObserver(() => setTheme(document.documentElement.className));
    observer.observe(document.documentElement, { attributeFilter: ['class'] });
    return () => observer.disconnect();
  }, []);
  return theme;
}
