/** Label names and values. Values must come from a fixed set: never user data. */
export type Labels = Readonly<Record<string, string>>

interface NamedMetric {
  /** Includes the unit, as Prometheus requires (https://prometheus.io/docs/practices/naming/). */
  name: string
  /** One sentence. */
  help: string
}

interface Sample {
  labels: Labels
  value: number
}

/** One metric in `/metrics`. A metric without samples is only described. */
export type Metric = NamedMetric &
  (
    | { type: 'counter' | 'gauge'; value: number }
    | { type: 'counter' | 'gauge'; samples: readonly Sample[] }
    | { type: 'histogram'; series: readonly HistogramSeries[] }
  )

interface HistogramSeries {
  labels: Labels
  /** Upper bounds of the buckets with the number of observations up to each, in order. */
  buckets: readonly { upTo: number; count: number }[]
  sum: number
  count: number
}

interface Observed {
  /** Number of observations in each bucket alone; the last one is for those above every bound. */
  counts: number[]
  sum: number
}

/** Durations in seconds since startup, counted by bucket and by the value of one label. */
export class Histogram {
  private readonly observed = new Map<string, Observed>()

  /**
   * @param bounds upper bounds of the buckets, in increasing order
   * @param label name of the label; null for a histogram without one
   */
  constructor(
    private readonly bounds: readonly number[],
    private readonly label: string | null = null,
  ) {}

  /** @param value of the label, which must come from a fixed set */
  observe(seconds: number, value = ''): void {
    let own = this.observed.get(value)
    if (!own) {
      own = { counts: new Array(this.bounds.length + 1).fill(0), sum: 0 }
      this.observed.set(value, own)
    }
    const at = this.bounds.findIndex((bound) => seconds <= bound)
    const index = at < 0 ? this.bounds.length : at
    own.counts[index] = (own.counts[index] ?? 0) + 1
    own.sum += seconds
  }

  series(): HistogramSeries[] {
    const all: [string, Observed][] = [...this.observed]
    if (this.label === null && all.length === 0) {
      all.push(['', { counts: new Array(this.bounds.length + 1).fill(0), sum: 0 }])
    }
    return all.map(([value, { counts, sum }]) => {
      let count = 0
      const buckets = this.bounds.map((upTo, index) => {
        count += counts[index] ?? 0
        return { upTo, count }
      })
      return {
        labels: this.label === null ? {} : { [this.label]: value },
        buckets,
        sum,
        count: count + (counts.at(-1) ?? 0),
      }
    })
  }
}

/** Counts since startup, by the value of one label. */
export class LabelledCounter {
  private readonly counts = new Map<string, { labels: Labels; value: number }>()

  /** @param labels values from a fixed set */
  add(labels: Labels, by = 1): void {
    const key = Object.values(labels).join('\n')
    const own = this.counts.get(key)
    if (own) own.value += by
    else this.counts.set(key, { labels, value: by })
  }

  samples(): Sample[] {
    return [...this.counts.values()]
  }
}

/** Returns metrics in Prometheus' text format: https://prometheus.io/docs/instrumenting/exposition_formats/ */
export function renderMetrics(metrics: readonly Metric[]): string {
  return metrics.map((metric) => `${linesOf(metric).join('\n')}\n`).join('')
}

function linesOf(metric: Metric): string[] {
  const { name, type, help } = metric
  const head = [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`]
  if (metric.type === 'histogram') return [...head, ...metric.series.flatMap((series) => seriesLines(name, series))]
  const samples = 'value' in metric ? [{ labels: {}, value: metric.value }] : metric.samples
  return [...head, ...samples.map(({ labels, value }) => `${name}${labelText(labels)} ${value}`)]
}

function seriesLines(name: string, { labels, buckets, sum, count }: HistogramSeries): string[] {
  const bucket = (le: string, value: number) => `${name}_bucket${labelText({ ...labels, le })} ${value}`
  return [
    ...buckets.map(({ upTo, count: upToCount }) => bucket(String(upTo), upToCount)),
    bucket('+Inf', count),
    `${name}_sum${labelText(labels)} ${sum}`,
    `${name}_count${labelText(labels)} ${count}`,
  ]
}

function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

const escaped = (value: string) => value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
