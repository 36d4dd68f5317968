import { oneLine } from '../../core/text.ts'
import {
  fitting,
  MAX_MESSAGE_BYTES,
  type Message,
  type MessageHistory,
  type MessagePoint,
  NO_HISTORY,
  sizeOf,
} from './message.ts'

/** Maximum number of points in a message's series. */
export const MAX_POINTS = 100
/** Minimum number of points for a chart. */
const MIN_POINTS = 2
const MAX_FIELDS = 10

/**
 * Adds data from the event history to a message. Data that exceeds the size limit of messages is truncated, and long
 * series are downsampled.
 */
export function withHistory(message: Message, { goodSample, series, ...history }: MessageHistory): Message {
  const cause = shortened(history.cause)
  const affected = shortened(history.affected)
  const fields = history.fields?.slice(0, MAX_FIELDS).map((field) => oneLine(field, 100)) ?? null
  const bare = { ...message, ...NO_HISTORY }
  const told =
    [{ cause, affected, fields }, { cause, affected }, { cause }, {}]
      .map((some) => ({ ...bare, ...some }))
      .find(fits) ?? bare
  let left = MAX_MESSAGE_BYTES - sizeOf(told)
  const points = series && pointsWithin(series, left)
  left -= points ? sizeOf(points) : 0
  const good = fitting(goodSample ?? {}, left)
  return { ...told, series: points, goodSample: Object.keys(good).length > 0 ? good : null }
}

const shortened = (part: MessageHistory['cause']) => part && { sentence: oneLine(part.sentence, 300) }

const fits = (message: Message) => sizeOf(message) <= MAX_MESSAGE_BYTES

/** True if the message already has data from the event history. */
export function hasHistory({ goodSample, series, cause, affected }: Message): boolean {
  return Boolean(goodSample || series || cause || affected)
}

function pointsWithin(series: readonly MessagePoint[], bytes: number): MessagePoint[] | null {
  for (let most = MAX_POINTS; most >= MIN_POINTS; most = Math.floor(most / 2)) {
    const points = merged(series, most)
    if (points.length < MIN_POINTS) return null
    if (sizeOf(points) <= bytes) return points
  }
  return null
}

/**
 * Downsamples a series to at most `most` points by averaging neighbours, so that each value still describes a single
 * window.
 */
function merged(series: readonly MessagePoint[], most: number): MessagePoint[] {
  const size = Math.ceil(series.length / most)
  const groups = Array.from({ length: Math.ceil(series.length / size) || 0 }, (_, index) =>
    series.slice(index * size, (index + 1) * size),
  )
  return groups.flatMap((group) => {
    const [first] = group
    if (!first) return []
    const expected = group.flatMap((point) => (point.expected === null ? [] : [point.expected]))
    return [
      {
        at: first.at,
        value: meanOf(group.map(({ value }) => value)),
        expected: expected.length > 0 ? meanOf(expected) : null,
      },
    ]
  })
}

function meanOf(values: readonly number[]): number {
  return Math.round((values.reduce((sum, value) => sum + value, 0) / values.length) * 100) / 100
}
