import { maskPersonal } from '../conditions/mask-personal-data.ts'
import type { Privacy } from '../conditions/privacy-settings.ts'
import { Closed, Int, type Static, Type } from '../core/schema.ts'
import type { ComparedSegment } from './rank-segments.ts'
import { DIMENSIONS, type SegmentKey } from './segment.ts'

const names = DIMENSIONS.map((dimension) => `\`${dimension}\``).join(', ')

const SegmentSchema = Closed({
  dimension: Type.String({ description: `${names}, or two of these joined by \`+\`` }),
  value: Type.String({
    description:
      'Value of the dimension, or two values joined by `+`. `unknown` for events without the property; for `hour`, the hour in UTC, such as `14:00`',
  }),
  violating: Int({ description: 'Violating events in the segment' }),
  total: Int({ description: 'All events in the segment' }),
  violatingPct: Type.Number({ description: '`violating` in percent of `total`' }),
  elsewherePct: Type.Number({ description: 'Violating events in percent of all events outside of the segment' }),
  ratio: Type.Number({
    description:
      '`violatingPct` over `elsewherePct`. If one of them is 0, half an event is added to each count, so that the ratio is finite',
  }),
  low: Type.Number({ description: 'Lower bound of the 95 % confidence interval of `ratio`' }),
  high: Type.Number({ description: 'Upper bound of the interval' }),
  sharePct: Type.Number({ description: '`violating` in percent of all violating events' }),
})

const segmentsFields = {
  violating: Int({ description: 'Violating events' }),
  healthy: Int({ description: 'Other events in scope' }),
  segments: Type.Array(SegmentSchema, {
    maxItems: 3,
    description:
      'Segments in which events violate far more often than elsewhere, the best explanation first. Correlated segments are omitted. ' +
      'A further segment is named only if the previous ones explain less than 80 % of the violations, and does not include their events. ' +
      'Empty if none stands out',
  }),
  summary: Type.String({ description: 'The result in one or two sentences' }),
}

export const AffectedSegmentsSchema = Closed(segmentsFields, {
  $id: 'AffectedSegments',
  examples: [
    {
      violating: 4120,
      healthy: 83_500,
      segments: [
        {
          dimension: 'browserVersion+os',
          value: 'Safari 18+iOS',
          violating: 4038,
          total: 10_240,
          violatingPct: 39.43,
          elsewherePct: 0.106,
          ratio: 372,
          low: 298.8,
          high: 463.1,
          sharePct: 98.01,
        },
      ],
      summary: '98 % of violations come from Safari 18 on iOS; elsewhere 0.11 % of events violate.',
    },
  ],
})
export type AffectedSegments = Static<typeof AffectedSegmentsSchema>
type Segment = Static<typeof SegmentSchema>

/** Returns a segment for a response. `violating`: all violating events. */
export function describeSegment(segment: ComparedSegment, violating: number): Segment {
  const { dimensions, values, inside, elsewhere, ratio, low, high } = segment
  return {
    dimension: dimensions.join('+'),
    value: values.join('+'),
    violating: Math.round(segment.violating),
    total: Math.round(segment.total),
    violatingPct: rounded(inside * 100),
    elsewherePct: rounded(elsewhere * 100),
    ratio: rounded(ratio),
    low: rounded(low),
    high: rounded(high),
    sharePct: rounded((segment.violating / violating) * 100),
  }
}

/** Rounds to four significant digits. */
const rounded = (value: number) => Number(value.toPrecision(4))

/** Returns the segment with personal data in its values masked. */
export function maskedSegment<S extends SegmentKey>(segment: S, privacy: Privacy): S {
  const values = segment.values.map((value, at) => maskPersonal(value, `$${segment.dimensions[at]}`, privacy))
  return { ...segment, values }
}
